// tier: quick, both databases always
import { beforeAll, describe, expect, test } from 'bun:test'
import { eq, sql } from 'drizzle-orm'
import { fromBase64, toBase64 } from '../../../src/core/crypto/encoding.ts'
import { OuterLayer } from '../../../src/core/crypto/outer_layer.ts'
import type { Transaction } from '../../../src/database/open.ts'
import { workspaces } from '../../../src/database/schema/index.ts'
import { openStoredSecret } from '../../../src/features/secrets/sealed.ts'
import { sharedApp, type TestApp } from '../../support/app.ts'
import { recordedChanges } from '../../support/audit.ts'
import { databaseKind } from '../../support/database.ts'
import { contentOf, expectFailure } from '../../support/failure.ts'
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

function upsert(body: unknown, token: string | undefined = team.owner.token) {
  return app.call('POST', '/api/secrets/', { token, body })
}

/** Expects that the call is rejected and writes nothing. */
async function expectRefused(
  body: unknown,
  code: Parameters<typeof expectFailure>[1],
  details?: Parameters<typeof expectFailure>[2],
  token?: string,
) {
  const before = await contentOf(app)
  expectFailure(await upsert(body, token), code, details)
  expect(await contentOf(app)).toEqual(before)
}

/** On a server; the embedded database's one connection makes everyone wait anyway. */
async function untilSomebodyWaits(tx: Transaction) {
  if (databaseKind === 'embedded') return
  for (let looks = 0; looks < 10_000; looks += 1) {
    const [locks] = await tx.execute<{ waiting: boolean }>(
      sql`select exists (select from pg_locks where not granted) as waiting`,
    )
    if (locks?.waiting) return
  }
  throw new Error('nobody waits for the lock')
}

function refusedField(path: string, message: string) {
  return { fields: [{ path, message }] }
}

describe('storing', () => {
  test('an upsert returns 201 and the counts if it creates a secret, else 200', async () => {
    const entry = (key: string, text: string) => ({ key, value: team.seal(key, text) })
    const first = await upsert({ project_id: team.projectId, secrets: [entry('ONE', 'a')] })
    expect([first.status, first.body]).toEqual([
      201,
      { status: 'success', data: { created: 1, updated: 0, created_environment: true } },
    ])
    const mixed = [entry('ONE', 'b'), entry('TWO', 'c')]
    const second = await upsert({ project_id: team.projectId, secrets: mixed })
    expect([second.status, second.body]).toEqual([
      201,
      { status: 'success', data: { created: 1, updated: 1 } },
    ])
    const third = await upsert({ project_id: team.projectId, secrets: mixed })
    expect([third.status, third.body]).toEqual([
      200,
      { status: 'success', data: { created: 0, updated: 2 } },
    ])
    const changes = await recordedChanges(app, team.workspaceId)
    expect(changes.filter((change) => change.startsWith('secret.'))).toEqual([
      'secret.created ONE',
      'secret.updated ONE',
      'secret.created TWO',
      'secret.updated ONE',
      'secret.updated TWO',
    ])
  })

  test('an upsert accepts the short form of names and values', async () => {
    const body = { project_id: team.projectId, environment: 'short', secrets: { A: OPAQUE } }
    expect((await upsert(body)).status).toBe(201)
    const read = await app.call('GET', `/api/secrets/${team.projectId}/A/?environment=short`, {
      token: team.owner.token,
    })
    expect(read.body).toMatchObject({ data: { key: 'A', value: OPAQUE, policy: null } })
  })

  test('an upsert stores only the outer layer in the table, bound to its row', async () => {
    const value = team.seal('BOUND', 'text', { environment: 'bound' })
    const body = { project_id: team.projectId, environment: 'bound', secrets: { BOUND: value } }
    await upsert(body)
    const { rows } = await storedSecrets(app, team.workspaceId)
    const row = rows.find(({ key }) => key === 'BOUND')
    if (!row) throw new Error('the row is missing')
    expect(Buffer.from(row.sealed).includes(fromBase64(value) ?? '')).toBe(false)
    const outer = OuterLayer.parse(String(app.config.ENCRYPTION_KEY))
    const opened = await openStoredSecret(outer, team.workspaceId, row)
    expect(opened && toBase64(opened)).toBe(value)
    expect(await openStoredSecret(outer, team.workspaceId, { ...row, key: 'OTHER' })).toBeNull()
    expect(await openStoredSecret(outer, foreign.workspaceId, row)).toBeNull()
  })

  test('an upsert keeps policies byte for byte, with the order of their fields', async () => {
    const policies = [
      null,
      {},
      {
        allowed_paths: ['/v1', '/v1/ü'],
        allowed_domains: ['API.Example.com', '*.example.org:8443'],
      },
      { sign_templates: ['{timestamp}.{body}'], allowed_locations: ['sign'] },
      { sign_templates: ['{timestamp}\u0000{body}\ud83d\ude00"\\'], allowed_locations: ['sign'] },
      { sensitive: false, description: 'Log level of the API' },
      { description: '' },
      { allowed_locations: ['json', 'env'], allowed_headers: [], allowed_methods: ['GET', 'GET'] },
    ]
    const list = policies.map((policy, index) => ({ key: `P${index}`, value: OPAQUE, policy }))
    await upsert({ project_id: team.projectId, environment: 'policies', secrets: list })
    const read = await app.call('GET', `/api/secrets/${team.projectId}/?environment=policies`, {
      token: team.owner.token,
    })
    const shown = (read.body as { data: { policy: unknown }[] }).data.map(({ policy }) => policy)
    expect(JSON.stringify(shown)).toBe(JSON.stringify(policies))
  })

  test('an upsert replaces the policy together with the value, also by none', async () => {
    const place = { project_id: team.projectId, environment: 'replaced' }
    await upsert({ ...place, secrets: [{ key: 'A', value: OPAQUE, policy: {} }] })
    await upsert({ ...place, secrets: [{ key: 'A', value: OPAQUE, policy: null }] })
    const read = await app.call('GET', `/api/secrets/${team.projectId}/A/?environment=replaced`, {
      token: team.owner.token,
    })
    expect(read.body).toMatchObject({ data: { policy: null, version: 2 } })
  })

  test('an upsert reports the first secret of an environment, which may be rejected', async () => {
    const place = { project_id: team.projectId, environment: 'prodution' }
    const refused = { ...place, secrets: { A: OPAQUE }, create_environment: false }
    const message = 'This environment is empty.'
    await expectRefused(refused, 'not_found', { message })
    const first = await upsert({ ...refused, create_environment: true })
    const data = { created: 1, updated: 0, created_environment: true }
    expect([first.status, first.body]).toEqual([201, { status: 'success', data }])
    for (const [key, counts] of [
      ['A', { created: 0, updated: 1 }],
      ['B', { created: 1, updated: 0 }],
    ] as const) {
      const { body } = await upsert({ ...refused, secrets: { [key]: OPAQUE } })
      expect(body).toEqual({ status: 'success', data: counts })
    }
    const said = refusedField('create_environment', 'must be of type boolean')
    await expectRefused({ ...refused, create_environment: 'no' }, 'validation_error', said)
  })

  test('an upsert accepts 500 entries, and values in the form of another client', async () => {
    const place = { project_id: team.projectId, environment: 'bulk' }
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`K${i}`, OPAQUE]))
    const all = await upsert({ ...place, secrets: many })
    expect(all.body).toEqual({
      status: 'success',
      data: { created: 500, updated: 0, created_environment: true },
    })
    for (const header of ['AQAAAAA=', 'AQABAAA=', 'AwAAAAk=', 'AQAA']) {
      expect((await upsert({ ...place, secrets: { K0: header } })).status).toBe(200)
    }
  })

  test('concurrent writes of one key each count as a version', async () => {
    const body = { project_id: team.projectId, environment: 'race', secrets: { RACED: OPAQUE } }
    const answers = await Promise.all(Array.from({ length: 6 }, () => upsert(body)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 201])
    const { rows, versions } = await storedSecrets(app, team.workspaceId)
    const raced = rows.find(({ key }) => key === 'RACED')
    const kept = versions.filter(({ secretId }) => secretId === raced?.id)
    expect([raced?.version, kept.map(({ version }) => version)]).toEqual([6, [1, 2, 3, 4, 5, 6]])
  })

  test('an upsert accepts bodies above the common limit up to its own limit', async () => {
    const value = toBase64(new Uint8Array(98_304))
    const body = (count: number) => ({
      project_id: team.projectId,
      environment: 'large',
      secrets: Object.fromEntries(Array.from({ length: count }, (_, i) => [`L${i}`, value])),
    })
    expect((await upsert(body(20))).status).toBe(201)
    await expectRefused(body(40), 'payload_too_large', {
      message: 'The request body may have at most 4194304 bytes.',
    })
  })
})

describe('refusing', () => {
  const one = (key: string, value = OPAQUE, rest = {}) => ({
    project_id: team.projectId,
    secrets: [{ key, value, ...rest }],
  })

  test.each([
    '',
    '1A',
    'A-B',
    'A B',
    'A/B',
    '%2F',
    '..',
    'A\u0000',
    'A\u202eB',
    'Ä',
    'A\n',
    'A'.repeat(129),
    'A'.repeat(300),
  ])('an upsert rejects an invalid key: %j', async (key) => {
    const rule = 'must be at most 128 letters, digits and _, and not begin with a digit'
    await expectRefused(one(key), 'validation_error', refusedField('secrets.0.key', rule))
  })

  test.each(['__proto__', 'constructor', 'prototype'])(
    'an upsert rejects the reserved name %s',
    async (key) => {
      const said = refusedField('secrets.0.key', 'is a reserved name')
      await expectRefused(one(key), 'validation_error', said)
    },
  )

  test.each(['__proto__', 'constructor'])(
    'an upsert rejects %s as a name in the short form',
    async (key) => {
      const text = `{"project_id":"${team.projectId}","secrets":{"${key}":"${OPAQUE}"}}`
      const response = await fetch(`${app.controlPlane}/api/secrets/`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${team.owner.token}`,
        },
        body: text,
      })
      expectFailure({ status: response.status, body: await response.json() }, 'malformed_json', {
        message: 'The request body has a forbidden key.',
      })
    },
  )

  test('an upsert rejects an invalid name in the short form', async () => {
    const said = refusedField('secrets.prototype', 'has a name that is not allowed')
    const body = { project_id: team.projectId, secrets: { A: OPAQUE, prototype: OPAQUE } }
    await expectRefused(body, 'validation_error', said)
  })

  test.each(['QR==', 'QUJ=', 'QQ', 'QQ=', 'QUJD\n', ' QUJD', '-_-_', 'QQ==QUJD', 'QUJé', '='])(
    'an upsert rejects base64 that is not canonical: %j',
    async (value) => {
      const said = refusedField('secrets.0.value', 'must be canonical base64 with padding')
      await expectRefused(one('A', value), 'validation_error', said)
    },
  )

  test('an upsert rejects values that are empty, too long or not text', async () => {
    const long = toBase64(new Uint8Array(98_305))
    const cases: [unknown, string][] = [
      ['', 'must not be empty'],
      [long, 'must encode at most 98304 bytes'],
      [7, 'must be of type string'],
      [null, 'must be of type string'],
    ]
    for (const [value, message] of cases) {
      const body = { project_id: team.projectId, secrets: [{ key: 'A', value }] }
      await expectRefused(body, 'validation_error', refusedField('secrets.0.value', message))
    }
  })

  test('an upsert rejects policies outside their schema', async () => {
    const [paths, locations] = ['must begin with / and have no query or fragment', 'location']
    const cases: [unknown, string, string][] = [
      [{ allowed: [] }, 'allowed', 'is not a field of this request'],
      [[], '', 'must be of type object'],
      ['GET', '', 'must be of type object'],
      [{ allowed_domains: 'a.example' }, 'allowed_domains', 'must be of type array'],
      [
        { allowed_domains: ['https://a.example'] },
        'allowed_domains.0',
        'must be a host such as *.example.com:8443',
      ],
      [
        { allowed_domains: ['10.0.0.1'] },
        'allowed_domains.0',
        'must be a host such as *.example.com:8443',
      ],
      [{ allowed_paths: ['v1'] }, 'allowed_paths.0', paths],
      [{ allowed_paths: ['/ok', '/a?b'] }, 'allowed_paths.1', paths],
      [{ allowed_paths: ['/\ud800'] }, 'allowed_paths.0', paths],
      [{ sensitive: true }, 'sensitive', 'must be one of false'],
      [{ description: 'x'.repeat(501) }, 'description', 'must have a length of at most 500'],
      [{ description: 'a\u0000b' }, 'description', 'must not contain control characters'],
      [{ sign_templates: '{body}' }, 'sign_templates', 'must be of type array'],
      [
        { sign_templates: ['x'.repeat(1025)] },
        'sign_templates.0',
        'must have a length of at most 1024',
      ],
      [{ sign_templates: ['\ud800'] }, 'sign_templates.0', 'must be text'],
      [{ allowed_headers: ['X Y'] }, 'allowed_headers.0', 'must be a header name'],
      [
        { allowed_methods: ['get'] },
        'allowed_methods.0',
        'must be one of GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
      ],
      [
        { allowed_locations: [locations] },
        'allowed_locations.0',
        'must be one of header, basic, query, path, json, form, websocket, env, sign',
      ],
    ]
    for (const [policy, where, message] of cases) {
      const path = where === '' ? 'secrets.0.policy' : `secrets.0.policy.${where}`
      const body = one('A', OPAQUE, { policy })
      await expectRefused(body, 'validation_error', refusedField(path, message))
    }
  })

  test('an upsert rejects a request with no entries, too many, or one key twice', async () => {
    const place = { project_id: team.projectId }
    const list = Array.from({ length: 501 }, (_, i) => ({ key: `K${i}`, value: OPAQUE }))
    const map = Object.fromEntries(list.map(({ key, value }) => [key, value]))
    const entries = 'must have a number of entries of'
    for (const secrets of [[], {}]) {
      const tooFew = refusedField('secrets', `${entries} at least 1`)
      await expectRefused({ ...place, secrets }, 'validation_error', tooFew)
    }
    for (const secrets of [list, map]) {
      const tooMany = refusedField('secrets', `${entries} at most 500`)
      await expectRefused({ ...place, secrets }, 'validation_error', tooMany)
    }
    const twice = [...list.slice(0, 499), { key: 'K7', value: OPAQUE }]
    const said = refusedField('secrets.499.key', 'is given twice')
    await expectRefused({ ...place, secrets: twice }, 'validation_error', said)
  })

  test('an upsert rejects all 500 entries if one is invalid', async () => {
    const list = Array.from({ length: 500 }, (_, i) => ({ key: `N${i}`, value: OPAQUE }))
    const secrets = [...list.slice(0, 499), { key: 'N499', value: 'QR==' }]
    const said = refusedField('secrets.499.value', 'must be canonical base64 with padding')
    await expectRefused({ project_id: team.projectId, secrets }, 'validation_error', said)
  })

  test('an upsert rejects fields that are unknown, missing or malformed', async () => {
    const { projectId: project_id } = team
    const secrets = { A: OPAQUE }
    const unknown = 'is not a field of this request'
    const cases: [unknown, string, string][] = [
      [{ project_id, secrets, role: 'owner' }, 'role', unknown],
      [{ project_id, secrets, workspace_id: team.workspaceId }, 'workspace_id', unknown],
      [{ project_id, secrets: [{ key: 'A', value: OPAQUE, id: 1 }] }, 'secrets.0.id', unknown],
      [
        { project_id, secrets: [{ key: 'A', value: OPAQUE, version: 9 }] },
        'secrets.0.version',
        unknown,
      ],
      [{ secrets }, 'project_id', 'is required'],
      [{ project_id: 'api', secrets }, 'project_id', 'must be a UUID'],
      [{ project_id }, 'secrets', 'is required'],
      [{ project_id, environment: 'Prod', secrets }, 'environment', NAME_RULE],
      [{ project_id, environment: 'a'.repeat(33), secrets }, 'environment', NAME_RULE],
      [{ project_id, environment: '\u202e', secrets }, 'environment', NAME_RULE],
    ]
    for (const [body, path, message] of cases) {
      await expectRefused(body, 'validation_error', refusedField(path, message))
    }
  })

  test('an upsert rejects a value of another epoch, with all other values of the request', async () => {
    const secrets = [
      { key: 'GOOD', value: team.seal('GOOD', 'x') },
      { key: 'OLD', value: team.seal('OLD', 'x', { epoch: 2 }) },
    ]
    const message = 'is sealed for another epoch'
    await expectRefused(
      { project_id: team.projectId, secrets },
      'epoch_conflict',
      refusedField('secrets.1', message),
    )
    await expectRefused(
      { project_id: team.projectId, secrets: { OLD: secrets[1]?.value } },
      'epoch_conflict',
      refusedField('secrets.OLD', message),
    )
  })

  test('an upsert rejects a value under the old key if the key changed while the request waited', async () => {
    const { db } = app.connection
    const here = eq(workspaces.id, team.workspaceId)
    const body = { project_id: team.projectId, secrets: { LATE: team.seal('LATE', 'x') } }
    const { answer } = await db.transaction(async (tx) => {
      await tx.update(workspaces).set({ epoch: 2 }).where(here)
      const waiting = upsert(body)
      await untilSomebodyWaits(tx)
      return { answer: waiting }
    })
    expectFailure(
      await answer,
      'epoch_conflict',
      refusedField('secrets.LATE', 'is sealed for another epoch'),
    )
    await db.update(workspaces).set({ epoch: 1 }).where(here)
    const { rows } = await storedSecrets(app, team.workspaceId)
    expect(rows.map(({ key }) => key)).not.toContain('LATE')
  })

  test('an upsert rejects foreign projects and unknown projects with the same answer', async () => {
    for (const project_id of [foreign.projectId, Bun.randomUUIDv7(), team.workspaceId]) {
      await expectRefused({ project_id, secrets: { A: OPAQUE } }, 'not_found')
    }
  })

  test('an upsert rejects bodies that are not JSON', async () => {
    const { token } = team.owner
    const headers = { 'content-type': 'text/plain' }
    const plain = await app.call('POST', '/api/secrets/', { token, body: {}, headers })
    expectFailure(plain, 'unsupported_media_type')
    await expectRefused(undefined, 'unsupported_media_type')
  })
})

const NAME_RULE = 'must be at most 32 lower-case letters, digits, _ and -, and begin with a letter'

describe('an expected version', () => {
  const store = (key: string, text: string, expected_version?: number) => ({
    project_id: team.projectId,
    secrets: [{ key, value: team.seal(key, text), expected_version }],
  })

  test('an expected version admits a writer who read the current version, and no other', async () => {
    expect((await upsert(store('RACED', 'one', 0))).status).toBe(201)
    expect((await upsert(store('RACED', 'two', 1))).status).toBe(200)
    await expectRefused(store('RACED', 'three', 1), 'conflict', {
      fields: [{ path: 'secrets.0', message: 'has version 2' }],
    })
    await expectRefused(store('RACED', 'three', 0), 'conflict', {
      fields: [{ path: 'secrets.0', message: 'has version 2' }],
    })
    await expectRefused(store('NEVER_THERE', 'x', 4), 'conflict', {
      fields: [{ path: 'secrets.0', message: 'does not exist' }],
    })
    expect((await upsert(store('RACED', 'three'))).status).toBe(200)
  })

  test('an expected version that does not match for one of several secrets stores none of them', async () => {
    const { project_id, secrets } = store('RACED', 'x', 1)
    const fresh = { key: 'FRESH', value: team.seal('FRESH', 'x'), expected_version: 0 }
    await expectRefused({ project_id, secrets: [fresh, ...secrets] }, 'conflict', {
      fields: [{ path: 'secrets.1', message: 'has version 3' }],
    })
  })

  test('an expected version admits one of two concurrent writers', async () => {
    await upsert(store('TWICE', 'one', 0))
    const both = await Promise.all([upsert(store('TWICE', 'a', 1)), upsert(store('TWICE', 'b', 1))])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409])
  })
})
