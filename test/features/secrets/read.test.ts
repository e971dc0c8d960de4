// tier: quick
import { beforeAll, describe, expect, test } from 'bun:test'
import { and, eq } from 'drizzle-orm'
import { fromBase64, toBase64 } from '../../../src/core/crypto/encoding.ts'
import { environmentKey, openSecretValue } from '../../../src/core/crypto/secret_value.ts'
import { secrets } from '../../../src/database/schema/index.ts'
import { getSecret, listSecrets, upsertSecrets } from '../../../src/features/secrets/contract.ts'
import { sharedApp, type TestApp } from '../../support/app.ts'
import { recordedChanges } from '../../support/audit.ts'
import { expectFailure } from '../../support/failure.ts'
import { openProject, type ProjectTeam } from '../../support/project.ts'
import { storedSecrets } from './stored.ts'

let app: TestApp
let team: ProjectTeam
let foreign: ProjectTeam

beforeAll(async () => {
  app = await sharedApp()
  team = await openProject(app)
  foreign = await openProject(app)
})

const OPAQUE = toBase64(new Uint8Array(40).fill(9))
const NAME_RULE = 'must be at most 32 lower-case letters, digits, _ and -, and begin with a letter'
const KEY_RULE = 'must be at most 128 letters, digits and _, and not begin with a digit'

function call(method: string, path: string, token: string | undefined = team.owner.token) {
  return app.call(method, `/api/secrets/${path}`, { token })
}

function store(environment: string, entries: Record<string, string>) {
  const body = { project_id: team.projectId, environment, secrets: entries }
  return team.owner.api.call(upsertSecrets, { body })
}

/** Moves the blob of one row into another, like an attacker with write access to the database. */
async function moveBlob(environment: string, from: string, to: string) {
  const { db } = app.connection
  const at = (key: string) =>
    and(
      eq(secrets.projectId, team.projectId),
      eq(secrets.environment, environment),
      eq(secrets.key, key),
    )
  const [row] = await db.select().from(secrets).where(at(from))
  await db
    .update(secrets)
    .set({ sealed: row?.sealed ?? new Uint8Array() })
    .where(at(to))
}

const moment = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

describe('lists', () => {
  test('lists contain names, policies and versions of one environment, by name, without values', async () => {
    await store('shown', { ZULU: OPAQUE, ALPHA: OPAQUE })
    await store('shown', { ZULU: OPAQUE })
    const answer = await call('GET', `${team.projectId}/?environment=shown`)
    const shown = (key: string, version: number) => ({
      id: expect.any(String),
      key,
      environment: 'shown',
      policy: null,
      version,
      derived: null,
      created_at: moment,
      updated_at: moment,
    })
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        status: 'success',
        data: [shown('ALPHA', 1), shown('ZULU', 2)],
        pagination: { next_cursor: null },
      },
    ])
  })

  test('lists contain the values on request, and the client can open them', async () => {
    const value = team.seal('DB', 'postgres://', { environment: 'opened' })
    await store('opened', { DB: value })
    const [row] = await team.owner.api.call(listSecrets, {
      params: { project_id: team.projectId },
      query: { environment: 'opened', include: 'value' },
    })
    expect(row?.value).toBe(value)
    const key = environmentKey(team.workspaceKey, team.projectId, 'opened', 1)
    const place = { projectId: team.projectId, environment: 'opened', key: 'DB' }
    const plain = openSecretValue(key, place, row?.policy, fromBase64(value) ?? new Uint8Array())
    expect(new TextDecoder().decode(plain?.reveal())).toBe('postgres://')
  })

  test('lists are of development unless the request names another environment, and may be empty', async () => {
    await team.owner.api.call(upsertSecrets, {
      body: { project_id: team.projectId, secrets: { DEFAULTED: OPAQUE } },
    })
    const [row] = await team.owner.api.call(listSecrets, {
      params: { project_id: team.projectId },
    })
    expect([row?.key, row?.environment]).toEqual(['DEFAULTED', 'development'])
    const empty = await call('GET', `${team.projectId}/?environment=nothing`)
    expect(empty.body).toEqual({
      status: 'success',
      data: [],
      pagination: { next_cursor: null },
    })
  })

  test('lists arrive in pages that miss nothing and repeat nothing', async () => {
    const names = Array.from({ length: 7 }, (_, i) => `PAGED_${i}`)
    await store('paged', Object.fromEntries(names.map((name) => [name, OPAQUE])))
    const all = await team.owner.api.list(listSecrets, {
      params: { project_id: team.projectId },
      query: { environment: 'paged', limit: 3 },
    })
    expect(all.map(({ key }) => key)).toEqual(names)
  })

  test('lists reject unknown queries', async () => {
    const said = { fields: [{ path: 'include', message: 'must be one of value' }] }
    expectFailure(await call('GET', `${team.projectId}/?include=all`), 'validation_error', said)
    const environment = { fields: [{ path: 'environment', message: NAME_RULE }] }
    for (const name of ['', 'Prod', '%2e%2e', '%00', '%E2%80%AE']) {
      const answer = await call('GET', `${team.projectId}/?environment=${name}`)
      expectFailure(answer, 'validation_error', environment)
    }
    const other = { fields: [{ path: 'other', message: 'is not a field of this request' }] }
    expectFailure(await call('GET', `${team.projectId}/?other=1`), 'validation_error', other)
  })

  test('lists reject the cursor of another environment', async () => {
    const { body } = await call('GET', `${team.projectId}/?environment=paged&limit=1`)
    const cursor = (body as { pagination: { next_cursor: string } }).pagination.next_cursor
    const answer = await call('GET', `${team.projectId}/?environment=shown&cursor=${cursor}`)
    expectFailure(answer, 'validation_error', {
      fields: [{ path: 'cursor', message: 'is not a cursor of this list' }],
    })
  })
})

describe('one secret', () => {
  test('one secret is returned with its value', async () => {
    await store('single', { ONE: OPAQUE })
    const answer = await call('GET', `${team.projectId}/ONE/?environment=single`)
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        status: 'success',
        data: {
          id: expect.any(String),
          key: 'ONE',
          environment: 'single',
          value: OPAQUE,
          policy: null,
          version: 1,
          derived: null,
          created_at: moment,
          updated_at: moment,
        },
      },
    ])
  })

  test('one secret is not found in another environment or under another case', async () => {
    for (const path of ['ONE/', 'one/?environment=single', 'NONE/?environment=single']) {
      expectFailure(await call('GET', `${team.projectId}/${path}`), 'not_found')
    }
  })

  test.each(['A%2FB', '%2E%2E%2F', 'A%00', 'A%E2%80%AE', 'prototype%20', 'A'.repeat(300)])(
    'one secret is not requested by an invalid name: %s',
    async (key) => {
      for (const method of ['GET', 'DELETE']) {
        expectFailure(await call(method, `${team.projectId}/${key}/`), 'validation_error', {
          fields: [{ path: 'key', message: KEY_RULE }],
        })
      }
    },
  )

  test.each(['__proto__', 'constructor', 'prototype'])(
    'one secret never has the name %s',
    async (key) => {
      expectFailure(await call('GET', `${team.projectId}/${key}/`), 'validation_error', {
        fields: [{ path: 'key', message: 'is a reserved name' }],
      })
    },
  )

  test('one secret with a policy that was altered in the database is listed, and does not open', async () => {
    const value = team.seal('ALTERED', 'x', { environment: 'altered', policy: {} })
    await team.owner.api.call(upsertSecrets, {
      body: {
        project_id: team.projectId,
        environment: 'altered',
        secrets: [{ key: 'ALTERED', value, policy: {} }],
      },
    })
    const { db } = app.connection
    await db
      .update(secrets)
      .set({ policy: { anything: 1 } })
      .where(eq(secrets.environment, 'altered'))
    const found = await team.owner.api.call(getSecret, {
      params: { project_id: team.projectId, key: 'ALTERED' },
      query: { environment: 'altered' },
    })
    expect(found.policy).toEqual({ anything: 1 })
    const key = environmentKey(team.workspaceKey, team.projectId, 'altered', 1)
    const place = { projectId: team.projectId, environment: 'altered', key: 'ALTERED' }
    const bytes = fromBase64(found.value) ?? new Uint8Array()
    expect(openSecretValue(key, place, found.policy, bytes)).toBeNull()
    expect(openSecretValue(key, place, {}, bytes)).not.toBeNull()
  })
})

describe('a blob that was moved to another row', () => {
  const said = (key: string) => ({
    fields: [{ path: key, message: 'was altered or moved in the database' }],
  })

  test('a moved blob does not open, and the answer names the secret', async () => {
    await store('moved', { GOOD: OPAQUE, HIT: OPAQUE })
    await moveBlob('moved', 'GOOD', 'HIT')
    const one = await call('GET', `${team.projectId}/HIT/?environment=moved`)
    expectFailure(one, 'unreadable_secret', said('HIT'))
    const all = await call('GET', `${team.projectId}/?environment=moved&include=value`)
    expectFailure(all, 'unreadable_secret', said('HIT'))
  })

  test('a moved blob affects neither its neighbours nor the list of names', async () => {
    expect((await call('GET', `${team.projectId}/GOOD/?environment=moved`)).status).toBe(200)
    expect((await call('GET', `${team.projectId}/?environment=moved`)).status).toBe(200)
    const first = `${team.projectId}/?environment=moved&include=value&limit=1`
    expect((await call('GET', first)).status).toBe(200)
  })

  test('a moved blob can be replaced and deleted', async () => {
    await store('moved', { HIT: OPAQUE })
    expect((await call('GET', `${team.projectId}/HIT/?environment=moved`)).status).toBe(200)
    await moveBlob('moved', 'GOOD', 'HIT')
    expect((await call('DELETE', `${team.projectId}/HIT/?environment=moved`)).status).toBe(200)
  })
})

describe('deleting', () => {
  test("a delete removes the environment's secret with its versions, and is recorded in the audit", async () => {
    await store('gone', { GONE: OPAQUE })
    await store('gone', { GONE: OPAQUE })
    await store('kept', { GONE: OPAQUE })
    const answer = await call('DELETE', `${team.projectId}/GONE/?environment=gone`)
    expect([answer.status, answer.body]).toEqual([200, { status: 'success' }])
    const { rows, versions } = await storedSecrets(app, team.workspaceId)
    const left = rows.filter(({ key }) => key === 'GONE')
    expect(left.map(({ environment }) => environment)).toEqual(['kept'])
    expect(versions.filter(({ secretId }) => secretId === left[0]?.id)).toHaveLength(1)
    expect((await recordedChanges(app, team.workspaceId)).at(-1)).toBe('secret.deleted GONE')
    expectFailure(await call('DELETE', `${team.projectId}/GONE/?environment=gone`), 'not_found')
  })

  test('a secret that is created again starts at version 1', async () => {
    await store('gone', { GONE: OPAQUE })
    const found = await team.owner.api.call(getSecret, {
      params: { project_id: team.projectId, key: 'GONE' },
      query: { environment: 'gone' },
    })
    expect(found.version).toBe(1)
  })
})

describe('access by role', () => {
  test('people outside the workspace get 404, whatever they name', async () => {
    await store('private', { MINE: OPAQUE })
    const before = await storedSecrets(app, team.workspaceId)
    const { token } = foreign.owner
    for (const projectId of [team.projectId, Bun.randomUUIDv7(), 'api']) {
      for (const path of ['/', '/MINE/', '/MINE/versions/']) {
        const answer = await call('GET', `${projectId}${path}?environment=private`, token)
        expectFailure(answer, 'not_found')
      }
      expectFailure(
        await call('DELETE', `${projectId}/MINE/?environment=private`, token),
        'not_found',
      )
    }
    expect(await storedSecrets(app, team.workspaceId)).toEqual(before)
  })

  test('a reader reads, but cannot delete', async () => {
    const reader = await team.join('read_only')
    const path = `${team.projectId}/MINE/?environment=private`
    expect((await call('GET', path, reader.token)).status).toBe(200)
    const list = `${team.projectId}/?environment=private&include=value`
    expect((await call('GET', list, reader.token)).status).toBe(200)
    expectFailure(await call('DELETE', path, reader.token), 'forbidden')
    expect((await call('GET', path)).status).toBe(200)
  })

  test('a member writes and deletes', async () => {
    const member = await team.join('member')
    const body = { project_id: team.projectId, environment: 'private', secrets: { M: OPAQUE } }
    expect(await member.api.call(upsertSecrets, { body })).toEqual({ created: 1, updated: 0 })
    const path = `${team.projectId}/M/?environment=private`
    expect((await call('DELETE', path, member.token)).status).toBe(200)
  })

  test('a request without a session is rejected', async () => {
    const path = `/api/secrets/${team.projectId}/`
    expectFailure(await app.call('GET', path), 'invalid_token')
    expectFailure(await app.call('DELETE', `${path}MINE/`), 'invalid_token')
  })
})
