// tier: quick
/** Secrets that were deleted by mistake can be restored for a limited time, and are invisible until then. */
import { beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { openSecret } from '../../../src/client/vault.ts'
import { deletedSecrets, deletedSecretVersions } from '../../../src/database/schema/index.ts'
import { deleteProject, restoreProject } from '../../../src/features/projects/contract.ts'
import { dropOverdue } from '../../../src/features/projects/deleted.ts'
import {
  deleteSecret,
  listDeletedSecrets,
  listSecrets,
  listVersions,
  restoreSecretsEndpoint,
  upsertSecrets,
} from '../../../src/features/secrets/contract.ts'
import { rekeyWorkspace } from '../../../src/features/workspaces/contract.ts'
import { sharedApp, type TestApp } from '../../support/app.ts'
import { recordedChanges } from '../../support/audit.ts'
import { expectFailure, expectRefusal } from '../../support/failure.ts'
import { openProject, type ProjectTeam } from '../../support/project.ts'
import { prepareRekey } from '../workspaces/rekeying.ts'

const POLICY = { allowed_methods: ['GET' as const] }
const environment = 'development'

let app: TestApp
let team: ProjectTeam

beforeAll(async () => {
  app = await sharedApp()
})

const params = () => ({ project_id: team.projectId })
const store = (key: string, text: string) => {
  const secrets = [{ key, value: team.seal(key, text, { policy: POLICY }), policy: POLICY }]
  return team.owner.api.call(upsertSecrets, { body: { ...params(), secrets } })
}
const remove = (key: string) =>
  team.owner.api.call(deleteSecret, { params: { ...params(), key }, query: { environment } })
const restore = (...keys: string[]) =>
  team.owner.api.call(restoreSecretsEndpoint, { params: params(), body: { environment, keys } })
const refusal = (keys: string[], token = team.owner.token) =>
  [
    'POST',
    `/api/projects/${team.projectId}/secrets/restore/`,
    { token, body: { environment, keys } },
  ] as const
const deleted = async () =>
  (await team.owner.api.list(listDeletedSecrets, { params: params(), query: { environment } })).map(
    ({ key, version }) => [key, version],
  )

async function values() {
  const query = { environment, include: 'value' as const }
  const workspace = { id: team.workspaceId, name: '', epoch: 1, key: team.workspaceKey }
  const listed = await team.owner.api.call(listSecrets, { params: params(), query })
  return listed.map(({ key, value = '' }) => {
    const place = { projectId: team.projectId, environment, key }
    const opened = openSecret(workspace, place, POLICY, value)
    return [key, opened && Buffer.from(opened.reveal()).toString()]
  })
}

const kept = async () => [
  await app.connection.db.$count(deletedSecrets),
  await app.connection.db.$count(deletedSecretVersions),
]

/** A secret of two versions that was deleted, and one that stays. */
beforeEach(async () => {
  team = await openProject(app)
  await app.connection.sql`delete from deleted_secrets`
  await store('KEY', 'one')
  await store('KEY', 'two')
  await store('OTHER', 'stays')
  await remove('KEY')
})

describe('a deleted secret', () => {
  test('a deleted secret is returned with its ciphertext and policy on request, which is recorded', async () => {
    const query = { environment, include: 'value' as const }
    const [found] = await team.owner.api.list(listDeletedSecrets, { params: params(), query })
    const workspace = { id: team.workspaceId, name: '', epoch: 1, key: team.workspaceKey }
    const place = { projectId: team.projectId, environment, key: 'KEY' }
    const opened = openSecret(workspace, place, POLICY, found?.value ?? '')
    expect(opened && Buffer.from(opened.reveal()).toString()).toBe('two')
    expect(found?.policy).toEqual(POLICY)
    const [names] = await team.owner.api.list(listDeletedSecrets, {
      params: params(),
      query: { environment },
    })
    expect(names?.value).toBeUndefined()
    await app.flushAudit()
    const reads = await app.connection.sql`select resource ->> 'name' as name from audit_logs
      where action = 'secret.read' and project_id = ${team.projectId}`
    expect(reads.map((row) => row.name)).toEqual(['KEY'])
  })

  test('a deleted secret is restored with its value, policy and versions', async () => {
    expect(await kept()).toEqual([1, 2])
    expect(await deleted()).toEqual([['KEY', 2]])
    expect(await restore('KEY')).toEqual({ restored: 1 })
    expect(await values()).toEqual([
      ['KEY', 'two'],
      ['OTHER', 'stays'],
    ])
    const versions = await team.owner.api.call(listVersions, {
      params: { ...params(), key: 'KEY' },
      query: { environment },
    })
    expect(versions.map(({ version, policy }) => [version, policy])).toEqual([
      [2, POLICY],
      [1, POLICY],
    ])
    expect((await recordedChanges(app, team.workspaceId)).at(-1)).toBe('secret.restored KEY')
    expect([await kept(), await deleted()]).toEqual([[0, 0], []])
    await expectRefusal(app, [...refusal(['KEY'])], 'not_found', {
      fields: [{ path: 'KEY', message: 'was not deleted recently' }],
    })
  })

  test('the restored secret is the one of that name that was deleted last', async () => {
    await store('KEY', 'later')
    await remove('KEY')
    expect(await deleted()).toEqual([['KEY', 1]])
    await restore('KEY')
    expect(await values()).toContainEqual(['KEY', 'later'])
    expect(await deleted()).toEqual([['KEY', 2]])
  })

  test('a deleted secret is not restored if its name is in use, nor without the others that are named', async () => {
    await remove('OTHER')
    await store('KEY', 'new')
    await expectRefusal(app, [...refusal(['OTHER', 'KEY'])], 'already_exists', {
      fields: [{ path: 'KEY', message: 'already exists again' }],
    })
    await expectRefusal(app, [...refusal(['OTHER', 'NO_SUCH'])], 'not_found', {
      fields: [{ path: 'NO_SUCH', message: 'was not deleted recently' }],
    })
    expect(await restore('OTHER')).toEqual({ restored: 1 })
    expect(await values()).toEqual([
      ['KEY', 'new'],
      ['OTHER', 'stays'],
    ])
  })

  test('a deleted secret is listed by name, page by page', async () => {
    await remove('OTHER')
    const query = { environment, limit: 1 }
    const all = await team.owner.api.list(listDeletedSecrets, { params: params(), query })
    expect(all.map(({ key }) => key)).toEqual(['KEY', 'OTHER'])
    const elsewhere = { environment: 'production' }
    expect(
      await team.owner.api.list(listDeletedSecrets, { params: params(), query: elsewhere }),
    ).toEqual([])
  })

  test('a deleted secret can be restored for seven days, and is deleted permanently then', async () => {
    const age = (interval: string) =>
      app.connection.sql`update deleted_secrets set deleted_at = deleted_at - ${interval}::interval`
    await age('6 days 23 hours')
    await dropOverdue(app.connection.db)
    expect(await deleted()).toHaveLength(1)
    await age('1 hour 1 second')
    expect(await deleted()).toEqual([])
    await expectRefusal(app, [...refusal(['KEY'])], 'not_found', {
      fields: [{ path: 'KEY', message: 'was not deleted recently' }],
    })
    expect(await dropOverdue(app.connection.db)).toBe(1)
    expect(await kept()).toEqual([0, 0])
  })

  test('a deleted secret is gone permanently after a rekey, because its value is under the old key', async () => {
    await remove('OTHER')
    const { body } = await prepareRekey(team, [])
    await team.owner.api.call(rekeyWorkspace, {
      params: { workspace_id: team.workspaceId },
      body,
    })
    expect([await kept(), await deleted()]).toEqual([[0, 0], []])
  })

  test('a deleted secret stays deleted while its project is deleted and restored', async () => {
    await team.owner.api.call(deleteProject, {
      params: { workspace_id: team.workspaceId, project_name: 'api' },
    })
    expectFailure(await app.call(...refusal(['KEY'])), 'not_found')
    await team.owner.api.call(restoreProject, { params: params() })
    expect(await values()).toEqual([['OTHER', 'stays']])
    expect(await restore('KEY')).toEqual({ restored: 1 })
  })
})
