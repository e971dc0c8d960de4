// tier: quick, both databases in test:all
/** A project that was deleted by mistake can be restored for a limited time, and is invisible until then. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { openSecret } from '../../../src/client/vault.ts'
import { readConfig } from '../../../src/core/config/config.ts'
import { migrate, migrations } from '../../../src/database/migrations/migrate.ts'
import { openDatabase } from '../../../src/database/open.ts'
import {
  deletedProjects,
  deletedSecrets,
  deletedSecretVersions,
  projects,
} from '../../../src/database/schema/index.ts'
import {
  createProject,
  deleteProject,
  listProjects,
} from '../../../src/features/projects/contract.ts'
import { dropOverdue } from '../../../src/features/projects/deleted.ts'
import { listSecrets, listVersions, upsertSecrets } from '../../../src/features/secrets/contract.ts'
import { rekeyWorkspace } from '../../../src/features/workspaces/contract.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { recordedChanges } from '../../support/audit.ts'
import { freshDatabase } from '../../support/database.ts'
import { expectFailure, expectRefusal } from '../../support/failure.ts'
import { openProject, type ProjectTeam } from '../../support/project.ts'
import { prepareRekey } from '../workspaces/rekeying.ts'

const POLICY = { allowed_methods: ['GET' as const] }

let app: TestApp
let team: ProjectTeam

// The tests count whole tables.
beforeAll(async () => {
  app = await startTestApp()
})
afterAll(() => app.stop())

/** A team whose project `api` has a secret of two versions, and was deleted. */
async function deleteOne(): Promise<void> {
  team = await openProject(app)
  for (const version of ['one', 'two']) {
    const value = team.seal('KEY', version, { policy: POLICY })
    const secrets = [{ key: 'KEY', value, policy: POLICY }]
    await team.owner.api.call(upsertSecrets, { body: { project_id: team.projectId, secrets } })
  }
  await team.owner.api.call(deleteProject, {
    params: { workspace_id: team.workspaceId, project_name: 'api' },
  })
}

const path = () => `/api/projects/${team.projectId}/restore/`
const restore = (token = team.owner.token) => app.call('POST', path(), { token })
const age = (interval: string) =>
  app.connection.sql`update deleted_projects set deleted_at = deleted_at - ${interval}::interval
    where id = ${team.projectId}`

async function keptRows() {
  const { db } = app.connection
  return [
    await db.$count(deletedProjects),
    await db.$count(deletedSecrets),
    await db.$count(deletedSecretVersions),
  ]
}

describe('a deleted project', () => {
  test('a deleted project is restored with its secrets, policies and versions, and these open', async () => {
    await deleteOne()
    expect(await keptRows()).toEqual([1, 1, 2])
    const answer = await restore()
    expect(answer).toMatchObject({
      status: 200,
      body: { status: 'success', data: { id: team.projectId, name: 'api', role: 'owner' } },
    })
    const params = { project_id: team.projectId }
    const query = { include: 'value' as const }
    const [secret] = await team.owner.api.call(listSecrets, { params, query })
    expect(secret).toMatchObject({ key: 'KEY', version: 2, policy: POLICY })
    const workspace = { id: team.workspaceId, name: '', epoch: 1, key: team.workspaceKey }
    const place = { projectId: team.projectId, environment: 'development', key: 'KEY' }
    const opened = openSecret(workspace, place, POLICY, secret?.value ?? '')
    expect(opened && Buffer.from(opened.reveal()).toString()).toBe('two')
    const versions = await team.owner.api.call(listVersions, {
      params: { ...params, key: 'KEY' },
      query,
    })
    expect(versions.map(({ version }) => version)).toEqual([2, 1])
    expect((await recordedChanges(app, team.workspaceId)).at(-1)).toBe('project.restored api')
    expect(await keptRows()).toEqual([0, 0, 0])
    await expectRefusal(app, ['POST', path(), { token: team.owner.token }], 'not_found')
  })

  test('a deleted project can be restored and deleted again', async () => {
    await deleteOne()
    for (let round = 0; round < 2; round += 1) {
      expect((await restore()).status).toBe(200)
      await app.call('DELETE', `/api/projects/${team.projectId}/`, { token: team.owner.token })
    }
    expect((await restore()).status).toBe(200)
  })

  test('a deleted project is invisible, and its name is free', async () => {
    await deleteOne()
    const { token } = team.owner
    for (const [method, place] of [
      ['GET', `/api/projects/${team.projectId}/`],
      ['GET', `/api/projects/${team.workspaceId}/api/`],
      ['GET', `/api/projects/${team.projectId}/environments/`],
      ['GET', `/api/secrets/${team.projectId}/`],
      ['GET', `/api/secrets/${team.projectId}/KEY/`],
      ['DELETE', `/api/projects/${team.projectId}/`],
    ] as const) {
      expectFailure(await app.call(method, place, { token }), 'not_found')
    }
    const query = { workspace_id: team.workspaceId }
    expect(await team.owner.api.call(listProjects, { query })).toEqual([])
    const again = { name: 'api', workspace_id: team.workspaceId }
    await team.owner.api.call(createProject, { body: again })
    const message = 'The workspace already has a project with this name.'
    await expectRefusal(app, ['POST', path(), { token }], 'already_exists', { message })
    await app.call('PATCH', `/api/projects/${team.workspaceId}/api/`, {
      token,
      body: { name: 'api-2' },
    })
    expect((await restore()).status).toBe(200)
  })

  test('a deleted project can be restored for seven days, and is deleted permanently then', async () => {
    await deleteOne()
    await age('6 days 23 hours')
    await dropOverdue(app.connection.db)
    expect((await restore()).status).toBe(200)
    await app.call('DELETE', `/api/projects/${team.projectId}/`, { token: team.owner.token })
    await age('7 days 1 second')
    await expectRefusal(app, ['POST', path(), { token: team.owner.token }], 'not_found')
    expect(await dropOverdue(app.connection.db)).toBe(1)
    expect(await keptRows()).toEqual([0, 0, 0])
  })

  test('a deleted project is gone permanently after a rekey, because its values are under the old key', async () => {
    await deleteOne()
    const { body } = await prepareRekey(team, [])
    const params = { workspace_id: team.workspaceId }
    await team.owner.api.call(rekeyWorkspace, { params, body })
    await expectRefusal(app, ['POST', path(), { token: team.owner.token }], 'not_found')
    expect(await keptRows()).toEqual([0, 0, 0])
  })

  test('a deleted project is removed with its workspace', async () => {
    await deleteOne()
    const { token } = team.owner
    await app.call('DELETE', `/api/workspaces/${team.workspaceId}/`, { token })
    expectFailure(await restore(), 'not_found')
    expect(await app.connection.db.$count(projects)).toBeGreaterThan(0)
  })
})

test('a name that the path of restoring would shadow is rejected', async () => {
  const body = { name: 'restore', workspace_id: team.workspaceId }
  const answer = await app.call('POST', '/api/projects/', { token: team.owner.token, body })
  expect(answer.status).toBe(422)
})

test('secrets that were deleted with a project in an older version are still deleted with it', async () => {
  const database = await freshDatabase()
  const keys = {
    SECRET_KEY: 's'.repeat(40),
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
  }
  const connection = await openDatabase(
    readConfig({ ...database.env, ...keys }, () => keys),
    () => {},
  )
  const { sql } = connection
  const before = migrations.findIndex(({ name }) => name === '0009_deleted_secrets')
  await migrate(sql, migrations.slice(0, before))
  const [workspace = '', project = ''] = [Bun.randomUUIDv7(), Bun.randomUUIDv7()]
  await sql`insert into workspaces (id, name, type) values (${workspace}, 'w', 'shared')`
  await sql`
    insert into deleted_projects (id, workspace_id, name, description, created_at, updated_at)
    values (${project}, ${workspace}, 'api', '', now(), now())`
  await sql`
    insert into deleted_secrets
      (id, workspace_id, project_id, environment, key, value, version, created_at, updated_at)
    values (${Bun.randomUUIDv7()}, ${workspace}, ${project}, 'staging', 'KEY', '\\x00', 1, now(), now())`
  await migrate(sql)
  const [kept] = await sql`
    select s.deleted_with, cardinality(p.environments) as made from deleted_secrets s join deleted_projects p on p.id = s.project_id`
  expect(kept).toEqual({ deleted_with: project, made: 0 })
  await sql`delete from deleted_projects`
  expect(await connection.db.$count(deletedSecrets)).toBe(0)
  await connection.close()
  database.remove()
})
