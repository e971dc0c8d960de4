// tier: quick, both databases always
import { beforeAll, describe, expect, test } from 'bun:test'
import { and, eq } from 'drizzle-orm'
import { toBase64 } from '../../../src/core/crypto/encoding.ts'
import { secretVersions, workspaces } from '../../../src/database/schema/index.ts'
import {
  getSecret,
  listVersions,
  rollBackSecret,
  upsertSecrets,
} from '../../../src/features/secrets/contract.ts'
import { sharedApp, type TestApp } from '../../support/app.ts'
import { recordedChanges } from '../../support/audit.ts'
import { expectFailure } from '../../support/failure.ts'
import { openProject, type ProjectTeam } from '../../support/project.ts'
import { storedSecrets } from './stored.ts'

let app: TestApp
let team: ProjectTeam

beforeAll(async () => {
  app = await sharedApp()
  team = await openProject(app)
})

const sealedAs = (version: number) => toBase64(new Uint8Array(20).fill(version + 50))
const moment = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

/** Stores a key until it has that many versions; the second has a policy. */
async function storeTimes(key: string, times: number) {
  for (let version = 1; version <= times; version += 1) {
    const policy = version === 2 ? { allowed_paths: ['/two'] } : null
    await team.owner.api.call(upsertSecrets, {
      body: { project_id: team.projectId, secrets: [{ key, value: sealedAs(version), policy }] },
    })
  }
}

function params(key: string) {
  return { project_id: team.projectId, key }
}

function rollBack(key: string, body: unknown, token: string | undefined = team.owner.token) {
  return app.call('POST', `/api/secrets/${team.projectId}/${key}/rollback/`, { token, body })
}

async function idOf(key: string) {
  return (await team.owner.api.call(getSecret, { params: params(key) })).id
}

describe('versions', () => {
  test('versions are listed newest first, with their authors, and with values only on request', async () => {
    await storeTimes('SHOWN', 2)
    const path = `/api/secrets/${team.projectId}/SHOWN/versions/`
    const shown = { created_by_email: team.owner.email, created_at: moment }
    const policy = { allowed_paths: ['/two'] }
    const bare = await app.call('GET', path, { token: team.owner.token })
    expect([bare.status, bare.body]).toEqual([
      200,
      {
        status: 'success',
        data: [
          { version: 2, policy, ...shown },
          { version: 1, policy: null, ...shown },
        ],
        pagination: { next_cursor: null },
      },
    ])
    const full = await app.call('GET', `${path}?include=value`, { token: team.owner.token })
    expect(full.body).toMatchObject({ data: [{ value: sealedAs(2) }, { value: sealedAs(1) }] })
  })

  test('ten versions are kept, in pages too', async () => {
    await storeTimes('DEEP', 13)
    const all = await team.owner.api.list(listVersions, {
      params: params('DEEP'),
      query: { limit: 4, include: 'value' },
    })
    const kept = [13, 12, 11, 10, 9, 8, 7, 6, 5, 4]
    expect(all.map(({ version }) => version)).toEqual(kept)
    expect(all.map(({ value }) => value)).toEqual(kept.map(sealedAs))
    const { versions } = await storedSecrets(app, team.workspaceId)
    const id = await idOf('DEEP')
    expect(versions.filter(({ secretId }) => secretId === id)).toHaveLength(10)
  })

  test('versions are pruned for each secret of a batch by its own count', async () => {
    await storeTimes('YOUNG', 1)
    await team.owner.api.call(upsertSecrets, {
      body: { project_id: team.projectId, secrets: { DEEP: sealedAs(14), YOUNG: sealedAs(2) } },
    })
    const versions = async (key: string) =>
      (await team.owner.api.call(listVersions, { params: params(key) })).map((row) => row.version)
    expect(await versions('YOUNG')).toEqual([2, 1])
    expect(await versions('DEEP')).toEqual([14, 13, 12, 11, 10, 9, 8, 7, 6, 5])
  })

  test('versions of a secret that does not exist are not found', async () => {
    const path = `/api/secrets/${team.projectId}/NONE/versions/`
    expectFailure(await app.call('GET', path, { token: team.owner.token }), 'not_found')
  })
})

describe('rolling back', () => {
  test('a rollback makes an earlier version with its policy the newest, with a record in the audit', async () => {
    await storeTimes('BACK', 3)
    const answer = await rollBack('BACK', { version: 2, policy: { allowed_paths: ['/two'] } })
    const data = {
      id: await idOf('BACK'),
      key: 'BACK',
      environment: 'development',
      value: sealedAs(2),
      policy: { allowed_paths: ['/two'] },
      version: 4,
      created_at: moment,
      updated_at: moment,
    }
    expect([answer.status, answer.body]).toEqual([200, { status: 'success', data }])
    const path = `/api/secrets/${team.projectId}/BACK/`
    const read = await app.call('GET', path, { token: team.owner.token })
    expect(read.body).toEqual({ status: 'success', data: { ...data, derived: null } })
    expect((await recordedChanges(app, team.workspaceId)).at(-1)).toBe('secret.rolled_back BACK')
  })

  test('a rollback is itself a version, and the eleventh drops the first', async () => {
    await storeTimes('FULL', 10)
    await team.owner.api.call(rollBackSecret, { params: params('FULL'), body: { version: 1 } })
    const all = await team.owner.api.call(listVersions, {
      params: params('FULL'),
      query: { include: 'value' },
    })
    expect(all.map(({ version }) => version)).toEqual([11, 10, 9, 8, 7, 6, 5, 4, 3, 2])
    expect(all[0]?.value).toBe(sealedAs(1))
    expectFailure(await rollBack('FULL', { version: 1 }), 'not_found')
  })

  test('a rollback to a version that never existed is not found', async () => {
    const before = await storedSecrets(app, team.workspaceId)
    expectFailure(await rollBack('BACK', { version: 99 }), 'not_found')
    expectFailure(await rollBack('NONE', { version: 1 }), 'not_found')
    expect(await storedSecrets(app, team.workspaceId)).toEqual(before)
  })

  test('a rollback requires a valid version', async () => {
    const number = 'must be of type number'
    const cases: [unknown, string, string][] = [
      [{}, 'version', 'is required'],
      [{ version: '1' }, 'version', number],
      [{ version: 0 }, 'version', 'must be at least 1'],
      [{ version: 1.5 }, 'version', 'must be of type int'],
      [{ version: 4_294_967_296 }, 'version', 'must be at most 2147483647'],
      [{ version: 1, policy: [] }, 'policy', 'must be of type object'],
      [{ version: 1, value: '' }, 'value', 'is not a field of this request'],
    ]
    for (const [body, path, message] of cases) {
      const answer = await rollBack('BACK', body)
      expectFailure(answer, 'validation_error', { fields: [{ path, message }] })
    }
  })

  test('a rollback rejects a version under an older key', async () => {
    const key = 'AGED'
    await team.owner.api.call(upsertSecrets, {
      body: { project_id: team.projectId, secrets: { [key]: team.seal(key, 'old') } },
    })
    const { db } = app.connection
    const here = eq(workspaces.id, team.workspaceId)
    await db.update(workspaces).set({ epoch: 2 }).where(here)
    await team.owner.api.call(upsertSecrets, {
      body: {
        project_id: team.projectId,
        secrets: { [key]: team.seal(key, 'new', { epoch: 2 }) },
      },
    })
    const before = await storedSecrets(app, team.workspaceId)
    expectFailure(await rollBack(key, { version: 1 }), 'epoch_conflict', {
      fields: [{ path: 'version', message: 'is sealed for another epoch' }],
    })
    expect(await storedSecrets(app, team.workspaceId)).toEqual(before)
    await db.update(workspaces).set({ epoch: 1 }).where(here)
  })

  test('a rollback rejects a version whose blob was exchanged, and so does the list of values', async () => {
    const { db } = app.connection
    await storeTimes('SWAPPED', 3)
    const id = await idOf('SWAPPED')
    const at = (version: number) =>
      and(eq(secretVersions.secretId, id), eq(secretVersions.version, version))
    const [third] = await db.select().from(secretVersions).where(at(3))
    await db
      .update(secretVersions)
      .set({ sealed: third?.sealed ?? new Uint8Array() })
      .where(at(1))
    const said = {
      fields: [{ path: 'SWAPPED', message: 'was altered or moved in the database' }],
    }
    const before = await storedSecrets(app, team.workspaceId)
    expectFailure(await rollBack('SWAPPED', { version: 1 }), 'unreadable_secret', said)
    expect(await storedSecrets(app, team.workspaceId)).toEqual(before)
    const path = `/api/secrets/${team.projectId}/SWAPPED/versions/?include=value`
    const { token } = team.owner
    expectFailure(await app.call('GET', path, { token }), 'unreadable_secret', said)
  })
})
