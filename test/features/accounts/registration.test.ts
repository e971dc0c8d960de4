// tier: quick, both databases in test:all
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { auditLogs, memberships, users } from '../../../src/database/schema/index.ts'
import { register } from '../../../src/features/accounts/contract.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { newApplicant, registerPerson, registrationOf } from '../../support/people.ts'
import { refusal, refusedField, said, writesNothing } from './support.ts'

const PATH = '/api/auth/register/'

describe('registration', () => {
  let app: TestApp
  beforeAll(async () => {
    app = await startTestApp()
  })
  afterAll(() => app.stop())

  test('one of several concurrent registrations becomes the owner of the instance', async () => {
    const bodies = await Promise.all([1, 2, 3, 4, 5].map(() => registrationOf(newApplicant())))
    const answers = await Promise.all(bodies.map((body) => app.as().call(register, { body })))
    expect(answers.filter(({ user }) => user.is_instance_owner)).toHaveLength(1)
    const later = await app.as().call(register, { body: await registrationOf(newApplicant()) })
    expect(later.user.is_instance_owner).toBe(false)
  })

  test('a registration returns 201 with the person and the workspace, and no data that unlocks either', async () => {
    const ada = newApplicant('ada')
    const registration = await registrationOf(ada)
    const answer = await app.call('POST', PATH, { body: registration })
    expect(said(answer)).toEqual({
      status: 201,
      body: {
        status: 'success',
        data: {
          user: {
            id: expect.any(String),
            email: ada.email,
            first_name: 'Test',
            last_name: 'Person',
            public_key: registration.public_key,
            signing_key: null,
            is_instance_owner: false,
            created_at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
            updated_at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
          },
          workspace: {
            id: ada.workspaceId,
            name: 'Personal',
            type: 'personal',
            role: 'owner',
            status: 'active',
            encrypted_workspace_key: registration.workspace.encrypted_workspace_key,
            epoch: 1,
            rekey_required: false,
            created_at: expect.any(String),
            updated_at: expect.any(String),
          },
        },
      },
    })
  })

  test('a registration records the creation of the workspace under its creator', async () => {
    const person = await registerPerson(app)
    await app.flushAudit()
    const records = await app.connection.db
      .select()
      .from(auditLogs)
      .where(eq(auditLogs.workspaceId, person.workspaceId))
    expect(records).toMatchObject([
      {
        action: 'workspace.created',
        source: 'control_plane',
        agentId: person.email,
        userId: person.userId,
        resource: { type: 'workspace', id: person.workspaceId, name: 'Personal' },
      },
    ])
  })

  test('a registration without a workspace creates none, and lower-cases the address', async () => {
    const { workspace: _, recovery: __, kdf: ___, ...body } = await registrationOf(newApplicant())
    const mixed = body.email.toUpperCase()
    const answer = await app.as().call(register, { body: { ...body, email: mixed } })
    expect(answer.workspace).toBeNull()
    expect(answer.user.email).toBe(body.email)
    const [row] = await app.connection.db.select().from(users).where(eq(users.email, body.email))
    expect(row).toMatchObject({
      kdf: { algorithm: 'argon2id', memory_kib: 65_536, iterations: 3, parallelism: 4 },
      recoveryVerifierHash: null,
      recoveryPrivateKey: null,
      termsAgreedAt: null,
    })
  })

  test('a registration generates an ID for a workspace without one', async () => {
    const ada = newApplicant()
    const { workspace, ...body } = await registrationOf(ada)
    const { encrypted_workspace_key } = workspace
    const answer = await app.as().call(register, {
      body: { ...body, terms_agreement: true, workspace: { encrypted_workspace_key } },
    })
    expect(answer.workspace?.id).not.toBe(ada.workspaceId)
    expect(answer.workspace?.name).toBe('Personal')
  })

  test("a registration seals the client's wrapped keys under the outer layer before it stores them", async () => {
    const ada = newApplicant()
    const body = await registrationOf(ada)
    await app.as().call(register, { body })
    const [row] = await app.connection.db
      .select({
        key: users.encryptedPrivateKey,
        copy: users.recoveryPrivateKey,
        envelope: memberships.encryptedWorkspaceKey,
      })
      .from(users)
      .innerJoin(memberships, eq(memberships.userId, users.id))
      .where(eq(users.email, ada.email))
    const pairs = [
      [row?.key, body.encrypted_private_key],
      [row?.copy, body.recovery.encrypted_private_key],
      [row?.envelope, body.workspace.encrypted_workspace_key],
    ] as const
    for (const [stored, sent] of pairs) {
      expect(stored?.[0]).toBe(1)
      expect(Buffer.from(stored ?? []).includes(Buffer.from(sent, 'base64'))).toBe(false)
    }
  })

  test('a registration rejects an existing address in any case, and writes nothing', async () => {
    const person = await registerPerson(app)
    const body = { ...(await registrationOf(newApplicant())), email: person.email.toUpperCase() }
    const answer = await writesNothing(app, () => app.call('POST', PATH, { body }))
    expect(said(answer)).toEqual(
      refusal('already_exists', { message: 'The email address already has an account.' }),
    )
  })

  test('one of two concurrent registrations gets the address', async () => {
    const body = await registrationOf(newApplicant())
    const rival = { ...(await registrationOf(newApplicant())), email: body.email }
    const answers = await Promise.all(
      [body, rival].map((each) => app.call('POST', PATH, { body: each })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409])
  })

  test('a registration rejects an existing workspace ID, and creates no account', async () => {
    const person = await registerPerson(app)
    const applicant = { ...newApplicant(), workspaceId: person.workspaceId }
    const body = await registrationOf(applicant)
    const answer = await writesNothing(app, () => app.call('POST', PATH, { body }))
    expect(said(answer)).toEqual(
      refusal('already_exists', { message: 'The workspace ID is already used.' }),
    )
  })

  const kdf = { algorithm: 'argon2id', memory_kib: 65_536, iterations: 3, parallelism: 4 }
  const bytes = (count: number) => Buffer.alloc(count, 9).toString('base64')
  const refused: [what: string, fields: object, path: string, message: string][] = [
    ['an address without @', { email: 'nobody' }, 'email', 'must be a valid email'],
    [
      'a long address',
      { email: `${'a'.repeat(250)}@a.example` },
      'email',
      'must have a length of at most 254',
    ],
    ['a line break in an address', { email: 'a\n@a.example' }, 'email', 'must be a valid email'],
    ['a short password', { password: '1234567' }, 'password', 'must have a length of at least 8'],
    [
      'a long password',
      { password: 'p'.repeat(1025) },
      'password',
      'must have a length of at most 1024',
    ],
    ['a password that is no text', { password: 12345678 }, 'password', 'must be of type string'],
    [
      'a control character in a name',
      { first_name: 'a\u0000b' },
      'first_name',
      'must not contain control characters',
    ],
    [
      'a reversed name',
      { last_name: 'a\u202eb' },
      'last_name',
      'must not contain control characters',
    ],
    [
      'a long name',
      { last_name: 'x'.repeat(300) },
      'last_name',
      'must have a length of at most 100',
    ],
    ['a short public key', { public_key: bytes(31) }, 'public_key', 'must encode exactly 32 bytes'],
    ['a long public key', { public_key: bytes(33) }, 'public_key', 'must encode exactly 32 bytes'],
    ['a short salt', { key_salt: bytes(15) }, 'key_salt', 'must encode exactly 16 bytes'],
    [
      'a salt without padding',
      { key_salt: bytes(16).replaceAll('=', '') },
      'key_salt',
      'must be canonical base64 with padding',
    ],
    [
      'a salt with stray bits',
      { key_salt: bytes(16).replace('Q==', 'R==') },
      'key_salt',
      'must be canonical base64 with padding',
    ],
    [
      'a URL-safe salt',
      { key_salt: `${'-_'.repeat(11)}==` },
      'key_salt',
      'must be canonical base64 with padding',
    ],
    [
      'an empty private key',
      { encrypted_private_key: '' },
      'encrypted_private_key',
      'must not be empty',
    ],
    [
      'a huge private key',
      { encrypted_private_key: bytes(4097) },
      'encrypted_private_key',
      'must encode at most 4096 bytes',
    ],
    [
      'less memory',
      { kdf: { ...kdf, memory_kib: 65_535 } },
      'kdf.memory_kib',
      'must be at least 65536',
    ],
    ['fewer passes', { kdf: { ...kdf, iterations: 2 } }, 'kdf.iterations', 'must be at least 3'],
    [
      'fewer bulkheads',
      { kdf: { ...kdf, parallelism: 1 } },
      'kdf.parallelism',
      'must be at least 4',
    ],
    [
      'absurd memory',
      { kdf: { ...kdf, memory_kib: 1_048_577 } },
      'kdf.memory_kib',
      'must be at most 1048576',
    ],
    ['half a pass', { kdf: { ...kdf, iterations: 3.5 } }, 'kdf.iterations', 'must be of type int'],
    [
      'another derivation',
      { kdf: { ...kdf, algorithm: 'pbkdf2' } },
      'kdf.algorithm',
      'must be one of argon2id',
    ],
    [
      'a field of the server',
      { is_instance_owner: true },
      'is_instance_owner',
      'is not a field of this request',
    ],
    ['an id', { id: Bun.randomUUIDv7() }, 'id', 'is not a field of this request'],
    [
      'a role in the workspace',
      { workspace: { role: 'owner', encrypted_workspace_key: bytes(9) } },
      'workspace.role',
      'is not a field of this request',
    ],
    [
      'a workspace without envelope',
      { workspace: { name: 'x' } },
      'workspace.encrypted_workspace_key',
      'is required',
    ],
    [
      'an empty envelope',
      { workspace: { encrypted_workspace_key: '' } },
      'workspace.encrypted_workspace_key',
      'must not be empty',
    ],
    [
      'a huge envelope',
      { workspace: { encrypted_workspace_key: bytes(4097) } },
      'workspace.encrypted_workspace_key',
      'must encode at most 4096 bytes',
    ],
    [
      'an invalid workspace id',
      { workspace: { id: '7', encrypted_workspace_key: bytes(9) } },
      'workspace.id',
      'must be a UUID',
    ],
    [
      'a blank workspace name',
      { workspace: { name: ' ', encrypted_workspace_key: bytes(9) } },
      'workspace.name',
      'must not be blank',
    ],
    [
      'a recovery without verifier',
      { recovery: { encrypted_private_key: bytes(61) } },
      'recovery.verifier',
      'is required',
    ],
  ]
  test.each(refused)('a registration rejects %s', async (_, fields, path, message) => {
    const body = { ...(await registrationOf(newApplicant())), ...fields }
    const answer = await writesNothing(app, () => app.call('POST', PATH, { body }))
    expect(said(answer)).toEqual(refusedField(path, message))
  })

  test('a registration accepts the largest envelope, and a stronger derivation than the default', async () => {
    const body = await registrationOf(newApplicant())
    const answer = await app.as().call(register, {
      body: {
        ...body,
        kdf: { algorithm: 'argon2id', memory_kib: 131_072, iterations: 4, parallelism: 8 },
        workspace: { ...body.workspace, encrypted_workspace_key: bytes(4096) },
      },
    })
    expect(answer.workspace?.encrypted_workspace_key).toBe(bytes(4096))
  })

  test('a registration accepts only JSON, and no body over the limit', async () => {
    const form = await app.call('POST', PATH, {
      body: {},
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
    expect(said(form)).toEqual(refusal('unsupported_media_type'))
    const poisoned = await fetch(app.controlPlane + PATH, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"email":"a@b.example","email":"c@d.example"}',
    })
    expect({ status: poisoned.status, body: await poisoned.json() }).toEqual(
      refusal('malformed_json', { message: 'The request body has a duplicate key.' }),
    )
    const huge = await app.call('POST', PATH, {
      body: { password: 'x'.repeat(1_048_576) },
      // Unread bytes of a body would otherwise keep the connection, and the stop of the app waiting.
      headers: { connection: 'close' },
    })
    expect(said(huge)).toEqual(
      refusal('payload_too_large', {
        message: 'The request body may have at most 1048576 bytes.',
      }),
    )
  })
})

test('REGISTRATION=first admits one of several concurrent registrations, and none later', async () => {
  const app = await startTestApp({ REGISTRATION: 'first' })
  const bodies = await Promise.all([1, 2, 3].map(() => registrationOf(newApplicant())))
  const answers = await Promise.all(bodies.map((body) => app.call('POST', PATH, { body })))
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 403, 403])
  const body = await registrationOf(newApplicant())
  const later = await writesNothing(app, () => app.call('POST', PATH, { body }))
  expect(said(later)).toEqual(refusal('registration_closed', { fix: { setting: 'REGISTRATION' } }))
  await app.stop()
})

test('REGISTRATION=closed admits no registration, and does not reveal who is registered', async () => {
  const app = await startTestApp({ REGISTRATION: 'closed' })
  const body = await registrationOf(newApplicant())
  const answer = await writesNothing(app, () => app.call('POST', PATH, { body }))
  expect(said(answer)).toEqual(refusal('registration_closed', { fix: { setting: 'REGISTRATION' } }))
  await app.stop()
})

test('RATE_REGISTER limits a network, before the body is read', async () => {
  const app = await startTestApp({ RATE_REGISTER: '2/60' })
  const ask = () => app.call('POST', PATH, { body: {} })
  expect((await ask()).status).toBe(422)
  expect((await ask()).status).toBe(422)
  const third = await ask()
  expect(said(third)).toEqual(refusal('rate_limited'))
  expect(Number(third.headers.get('retry-after'))).toBeGreaterThanOrEqual(29)
  app.clock.advance(30_000)
  expect((await ask()).status).toBe(422)
  await app.stop()
})
