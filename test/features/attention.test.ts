// tier: quick, both databases in test:all
/** Things that need a member's attention soon: tokens that expire, and credentials to connect again. */
import { beforeAll, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { derivedStates, secrets, tokens } from '../../src/database/schema/index.ts'
import { issueAgentToken, registerAgent } from '../../src/features/agents/contract.ts'
import { listExpiringTokens, listLostCredentials } from '../../src/features/attention/contract.ts'
import { sharedApp, type TestApp } from '../support/app.ts'
import { openProject, type ProjectTeam } from '../support/project.ts'

let app: TestApp
let team: ProjectTeam
let params: { workspace_id: string }

beforeAll(async () => {
  app = await sharedApp()
  team = await openProject(app)
  params = { workspace_id: team.workspaceId }
})

test('tokens that expire within the given days are listed, the earliest first', async () => {
  const { api } = team.owner
  const { agent } = await api.call(registerAgent, {
    params,
    body: { name: 'bot', expires_in_days: 20 },
  })
  const ofAgent = { ...params, registration_id: agent.id }
  const issue = async (label: string, days: number | null) => {
    const { token_id } = await api.call(issueAgentToken, {
      params: ofAgent,
      body: { label, expires_in_days: days },
    })
    return token_id
  }
  await issue('for ever', null)
  const [later, soon, revoked, expired] = [
    await issue('later', 6),
    await issue('soon', 2),
    await issue('revoked', 3),
    await issue('expired', 3),
  ]
  const { db } = app.connection
  const past = new Date(Date.now() - 60_000)
  await db.update(tokens).set({ revokedAt: past }).where(eq(tokens.id, revoked))
  await db.update(tokens).set({ expiresAt: past }).where(eq(tokens.id, expired))
  const listed = await api.call(listExpiringTokens, { params })
  expect(listed.map(({ id }) => id)).toEqual([soon, later])
  expect(listed[0]).toMatchObject({ label: 'soon', agent_id: agent.id, agent_name: 'bot' })
  const more = await api.call(listExpiringTokens, { params, query: { days: 30 } })
  expect(more.map(({ label }) => label)).toEqual(['soon', 'later', 'default'])
})

test('a credential is listed once its derivation stops, as long as its secret exists', async () => {
  const { db } = app.connection
  const place = {
    ...{ workspaceId: team.workspaceId, projectId: team.projectId },
    environment: 'production',
  }
  const stateOf = (key: string, isFinal: boolean) => ({
    ...{ ...place, key, generation: 1, isFinal },
    ...{ failedAt: new Date(), failedCode: 'invalid_grant' },
  })
  await db.insert(secrets).values(
    ['LOST', 'RETRIED'].map((key) => ({
      ...{ ...place, key, id: Bun.randomUUIDv7(), version: 1 },
      sealed: new Uint8Array(64),
    })),
  )
  const states = [stateOf('LOST', true), stateOf('RETRIED', false), stateOf('DELETED', true)]
  await db.insert(derivedStates).values(states)
  const listed = await team.owner.api.call(listLostCredentials, { params })
  expect(listed).toEqual([
    {
      ...{ project_id: team.projectId, environment: 'production', key: 'LOST' },
      ...{ failed_at: expect.any(String), failed_code: 'invalid_grant' },
    },
  ])
})
