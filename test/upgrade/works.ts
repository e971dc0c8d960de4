/** Checks that everything that people and agents of an older version did still works. */
import { expect } from 'bun:test'
import { logInByPassword, type OpenSession } from '../../src/client/account/log_in.ts'
import { recoverByKey } from '../../src/client/account/recovery.ts'
import { fetchEnvironment } from '../../src/client/delivery/delivery.ts'
import { openSecret } from '../../src/client/vault.ts'
import type { Policy } from '../../src/core/policy/policy.ts'
import { listAuditLogs } from '../../src/features/audit/contract.ts'
import { listProjects } from '../../src/features/projects/contract.ts'
import { listSecrets } from '../../src/features/secrets/contract.ts'
import { resolveAs } from '../support/agent.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import type { TestDatabase } from '../support/database.ts'
import { type Fixture, HOST } from './fixture.ts'

const TO_THE_API = { RESOLVER_ALLOW_NETWORKS: '127.0.0.1/32', RESOLVER_HOSTS: `${HOST}=127.0.0.1` }

/** Starts a server of this version on the database, and tests everything. */
export async function expectItWorks(fixture: Fixture, database: TestDatabase): Promise<void> {
  const app = await startTestApp({ ...fixture.keys, ...TO_THE_API }, { database })
  try {
    await expectAll(app, fixture)
  } finally {
    await app.stop()
  }
}

async function expectAll(app: TestApp, fixture: Fixture): Promise<void> {
  const { story } = fixture
  const [ada = '', bob = ''] = story.people
  const session = await logInByPassword(app.controlPlane, ada, story.password)
  expect(await secretsOf(session)).toEqual(story.secrets)
  await expectTokens(app, fixture)
  await expectAudit(app, session)
  await recoverByKey(app.controlPlane, ada, story.recoveryKey, 'another long password of now')
  const { workspaces } = await logInByPassword(app.controlPlane, bob, story.password)
  expect(workspaces.map(({ name }) => name).toSorted()).toEqual(['Personal', 'team'])
}

async function expectTokens(app: TestApp, { story, port }: Fixture): Promise<void> {
  const call = (token: string) =>
    resolveAs(app.resolver, token, {
      target_url: `https://${HOST}:${port}/charges`,
      method: 'GET',
      headers: { Authorization: 'Bearer SVC_SECRET_STRIPE_KEY' },
    })
  // The allowlist names the port of that time, on which no program listens: the call is decided and filled in before
  // the connection fails.
  expect((await call(story.agentToken)).body).toMatchObject({
    error_code: 'upstream_unreachable',
  })
  expect((await call(story.revokedToken)).status).toBe(401)
  const delivered = await fetchEnvironment(app.controlPlane, story.workloadToken)
  const values = [...(await delivered.open())].map(([key, { value }]) => [key, value])
  expect(Object.fromEntries(values)).toEqual(story.secrets)
}

async function secretsOf({ api, workspaces }: OpenSession): Promise<Record<string, string>> {
  const [project] = await api.list(listProjects, {})
  const workspace = workspaces.find(({ id }) => id === project?.workspace_id)
  if (!project || !workspace) throw new Error('the project is not there')
  const place = { projectId: project.id, environment: 'development' }
  const listed = await api.list(listSecrets, {
    params: { project_id: project.id },
    query: { environment: 'development', include: 'value' },
  })
  return Object.fromEntries(
    listed.map(({ key, policy, value }) => {
      const opened = openSecret(workspace, { ...place, key }, policy as Policy | null, value ?? '')
      return [key, new TextDecoder().decode(opened?.reveal())]
    }),
  )
}

/** All records are listed, also the oldest. */
async function expectAudit(app: TestApp, { api, workspaces }: OpenSession): Promise<void> {
  for (const { id } of workspaces) {
    const recorded = await app.connection.sql<{ id: string }[]>`
      select id from audit_logs where workspace_id = ${id}`
    const listed = await api.list(listAuditLogs, { query: { workspace_id: id } })
    const ids = new Set(listed.map((record) => record.id))
    expect(recorded.length).toBeGreaterThan(0)
    expect(recorded.filter((record) => !ids.has(record.id))).toEqual([])
  }
}
