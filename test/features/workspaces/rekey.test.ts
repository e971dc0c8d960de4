// tier: all
import { beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { eq } from 'drizzle-orm'
import { fromBase64, toBase64 } from '../../../src/core/crypto/encoding.ts'
import { openMemberEnvelope, openTokenEnvelope } from '../../../src/core/crypto/envelope.ts'
import { OuterLayer } from '../../../src/core/crypto/outer_layer.ts'
import {
  environmentKey,
  openSecretValue,
  readValueEpoch,
} from '../../../src/core/crypto/secret_value.ts'
import { parseToken, tokenKeyPair } from '../../../src/core/crypto/token.ts'
import { secretVersions, tokenEnvelopes } from '../../../src/database/schema/index.ts'
import { provisionAgentToken, registerAgent } from '../../../src/features/agents/contract.ts'
import {
  getSecret,
  listSecrets,
  listVersions,
  upsertSecrets,
} from '../../../src/features/secrets/contract.ts'
import {
  getWorkspace,
  type RekeyBody,
  rekeyWorkspace,
  removeMember,
} from '../../../src/features/workspaces/contract.ts'
import { sharedApp, type TestApp } from '../../support/app.ts'
import { recordedChanges } from '../../support/audit.ts'
import { type Call, contentOf, expectFailure, expectRefusal } from '../../support/failure.ts'
import { envelopeFor, type Person, registerPerson } from '../../support/people.ts'
import { openProject, type ProjectTeam } from '../../support/project.ts'
import { grantFor, prepareRekey, type Rekeying, tokenOf } from './rekeying.ts'

let app: TestApp

beforeAll(async () => {
  app = await sharedApp()
})

const policy = { allowed_methods: ['GET'], allowed_domains: ['api.example.com'] }

/** A project with three secrets, one of them with two versions and a policy. */
async function openVault(): Promise<ProjectTeam> {
  const team = await openProject(app)
  const { projectId: project_id, owner } = team
  const write = (
    secrets: { key: string; value: string; policy?: typeof policy }[],
    environment: string,
  ) => owner.api.call(upsertSecrets, { body: { project_id, environment, secrets } })
  const inProduction = { environment: 'production' }
  await write([{ key: 'API_KEY', value: team.seal('API_KEY', 'first') }], 'development')
  const value = team.seal('API_KEY', 'second', { policy })
  await write([{ key: 'API_KEY', value, policy }], 'development')
  await write([{ key: 'DB_URL', value: team.seal('DB_URL', 'dev') }], 'development')
  await write([{ key: 'DB_URL', value: team.seal('DB_URL', 'prod', inProduction) }], 'production')
  return team
}

function rekey(team: ProjectTeam, body: unknown, person: Person = team.owner): Call {
  return ['POST', `/api/workspaces/${team.workspaceId}/rekey/`, { token: person.token, body }]
}

/** The value of a secret for a member with this key; `null` if it does not open. */
async function readSecret(
  team: ProjectTeam,
  { workspaceKey, epoch }: Pick<Rekeying, 'workspaceKey' | 'epoch'>,
  environment: string,
  key: string,
) {
  const { projectId, owner } = team
  const params = { project_id: projectId, key }
  const secret = await owner.api.call(getSecret, { params, query: { environment } })
  const value = fromBase64(secret.value) ?? new Uint8Array()
  const opener = environmentKey(workspaceKey, projectId, environment, epoch)
  const opened = openSecretValue(opener, { projectId, environment, key }, secret.policy, value)
  return { text: opened && new TextDecoder().decode(opened.reveal()), version: secret.version }
}

async function addAgent({ workspaceId, owner }: ProjectTeam, name: string, environment?: string) {
  const params = { workspace_id: workspaceId }
  const body = { name, label: `${name}-token`, ...(environment ? { environment } : {}) }
  const { agent, token, token_id: tokenId } = await owner.api.call(registerAgent, { params, body })
  const { id, secret } = parseToken(token ?? '') ?? { id: '', secret: new Uint8Array(32) }
  return { registrationId: agent.id, tokenId, ...tokenKeyPair(id, secret) }
}

describe('a rekey', () => {
  test('a rekey moves every member, secret and named token to the new key, and nothing stays under the old one', async () => {
    const team = await openVault()
    const [member, invited, leaver] = [
      await team.join('member'),
      await registerPerson(app, 'invited'),
      await team.join('admin'),
    ]
    await team.invite(invited, 'read_only')
    const kept = await addAgent(team, 'kept')
    const dropped = await addAgent(team, 'dropped')
    const params = { workspace_id: team.workspaceId }
    const current = { workspaceKey: team.workspaceKey, epoch: 1 }
    for (const agent of [kept, dropped]) {
      const { envelopes } = await grantFor(team, current, agent, 'production')
      await team.owner.api.call(provisionAgentToken, {
        params: { ...params, registration_id: agent.registrationId, token_id: agent.tokenId },
        body: envelopes.map((envelope) => ({ ...envelope, epoch: 1 })),
      })
    }
    await team.owner.api.call(removeMember, { params: { ...params, member: leaver.userId } })
    expect(await member.api.call(getWorkspace, { params })).toMatchObject({ rekey_required: true })

    const fresh = await prepareRekey(team)
    const tokens = [await grantFor(team, fresh, kept, 'production')]
    const answer = await app.call(...rekey(team, { ...fresh.body, tokens }))

    const sentFor = (person: Person) =>
      fresh.body.members.find(({ user_id }) => user_id === person.userId)?.encrypted_workspace_key
    expect({ status: answer.status, body: answer.body }).toEqual({
      status: 200,
      body: {
        status: 'success',
        data: {
          id: team.workspaceId,
          name: 'Team',
          type: 'shared',
          role: 'owner',
          status: 'active',
          encrypted_workspace_key: sentFor(team.owner),
          epoch: 2,
          rekey_required: false,
          created_at: expect.any(String),
          updated_at: expect.any(String),
        },
      },
    })
    const seen = await member.api.call(getWorkspace, { params })
    const place = {
      workspaceId: team.workspaceId,
      recipientPublicKey: member.publicKey,
      epoch: 2,
    }
    const envelope = seen.encrypted_workspace_key ?? ''
    expect(await openMemberEnvelope(place, member.privateKey, envelope)).toEqual(fresh.workspaceKey)
    expect(await readSecret(team, fresh, 'development', 'API_KEY')).toEqual({
      text: 'second',
      version: 3,
    })
    expect(await readSecret(team, fresh, 'production', 'DB_URL')).toEqual({
      text: 'prod',
      version: 2,
    })
    expect(await readSecret(team, current, 'production', 'DB_URL')).toMatchObject({ text: null })
    const secret = { project_id: team.projectId, key: 'API_KEY' }
    const versions = await team.owner.api.list(listVersions, { params: secret })
    expect(versions.map(({ version }) => version)).toEqual([3])
    expect(await tokenOf(team, kept.registrationId)).toMatchObject({
      provisioned: [{ project_id: team.projectId, environment: 'production', epoch: 2 }],
    })
    expect(await tokenOf(team, dropped.registrationId)).toMatchObject({
      status: 'active',
      provisioned: [],
    })
    expect((await recordedChanges(app, team.workspaceId)).slice(-2).sort()).toEqual([
      'token.grant_removed dropped-token',
      'workspace.rekeyed Team',
    ])
    expect(
      (
        await app.call('POST', `/api/workspaces/${team.workspaceId}/accept/`, {
          token: invited.token,
        })
      ).status,
    ).toBe(200)
  })

  test('a rekey stores each envelope so that only its token can open it, in its row only', async () => {
    const team = await openVault()
    const agent = await addAgent(team, 'opener')
    const fresh = await prepareRekey(team)
    const tokens = [await grantFor(team, fresh, agent, 'production')]
    await app.call(...rekey(team, { ...fresh.body, tokens }))
    const [row] = await app.connection.db
      .select()
      .from(tokenEnvelopes)
      .where(eq(tokenEnvelopes.tokenId, agent.tokenId))
    const { workspaceId, projectId } = team
    const outer = OuterLayer.parse(app.config.ENCRYPTION_KEY)
    const identity = [{ uuid: agent.tokenId }, { uuid: projectId }, { text: 'production' }]
    const sealed = row?.envelope ?? new Uint8Array()
    const raw = await outer.open('token_envelopes.envelope', workspaceId, identity, sealed)
    const place = {
      workspaceId,
      tokenId: agent.tokenId,
      projectId,
      environment: 'production',
      epoch: 2,
    }
    expect(await openTokenEnvelope(place, agent.privateKey, raw ?? new Uint8Array())).toEqual(
      environmentKey(fresh.workspaceKey, projectId, 'production', 2),
    )
  })

  test('a rekey accepts more than one statement and more than a megabyte', async () => {
    const team = await openProject(app)
    const count = 1100
    const keys = Array.from({ length: count }, (_, at) => `KEY_${String(at).padStart(4, '0')}`)
    const text = 'x'.repeat(900)
    for (let at = 0; at < count; at += 500) {
      const secrets = keys.slice(at, at + 500).map((key) => ({ key, value: team.seal(key, text) }))
      await team.owner.api.call(upsertSecrets, { body: { project_id: team.projectId, secrets } })
    }
    const fresh = await prepareRekey(team)
    expect(JSON.stringify(fresh.body).length).toBeGreaterThan(1_048_576)
    expect((await app.call(...rekey(team, fresh.body))).status).toBe(200)
    for (const key of [keys[0], keys[499], keys[500], keys[1099]])
      expect(await readSecret(team, fresh, 'development', key ?? '')).toEqual({ text, version: 2 })
    expect(await app.connection.db.$count(secretVersions)).toBeGreaterThanOrEqual(count)
  }, 30_000)

  test('a rekey accepts values of another client, which name no epoch', async () => {
    const team = await openVault()
    const fresh = await prepareRekey(team)
    const opaque = toBase64(Uint8Array.of(9, 9, 9))
    const secrets = fresh.body.secrets.map((secret) => ({ ...secret, value: opaque }))
    expect((await app.call(...rekey(team, { ...fresh.body, secrets }))).status).toBe(200)
  })

  test('a rekey compares a policy by its meaning, not by the order of its keys', async () => {
    const team = await openVault()
    const fresh = await prepareRekey(team)
    const secrets = fresh.body.secrets.map((secret) =>
      secret.policy
        ? { ...secret, policy: Object.fromEntries(Object.entries(secret.policy).reverse()) }
        : secret,
    )
    expect((await app.call(...rekey(team, { ...fresh.body, secrets }))).status).toBe(200)
    const { text } = await readSecret(team, fresh, 'development', 'API_KEY')
    expect(text).toBe('second')
  })

  test('a rekey gives nothing to a token that was revoked in the meantime', async () => {
    const team = await openVault()
    const agent = await addAgent(team, 'revoked')
    const fresh = await prepareRekey(team)
    const tokens = [await grantFor(team, fresh, agent, 'production')]
    await app.connection.sql`update tokens set revoked_at = now() where id = ${agent.tokenId}`
    expect((await app.call(...rekey(team, { ...fresh.body, tokens }))).status).toBe(200)
    expect(await tokenOf(team, agent.registrationId)).toMatchObject({ provisioned: [] })
  })
})

describe('concurrent changes', () => {
  test('one of two concurrent rekeys succeeds completely, the other is 409', async () => {
    const team = await openVault()
    const rivals = [await prepareRekey(team), await prepareRekey(team)]
    const answers = await Promise.all(rivals.map(({ body }) => app.call(...rekey(team, body))))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
    for (const [index, answer] of answers.entries()) {
      const rival = rivals[index] as Rekeying
      if (answer.status !== 200) expectFailure(answer, 'epoch_conflict')
      for (const environment of ['development', 'production']) {
        const { text } = await readSecret(team, rival, environment, 'DB_URL')
        expect(text === null).toBe(answer.status !== 200)
      }
    }
  })

  test('concurrent writers leave every secret under the epoch of the workspace', async () => {
    const team = await openVault()
    const { body } = await prepareRekey(team)
    const write = (key: string) =>
      app.call('POST', '/api/secrets/', {
        token: team.owner.token,
        body: { project_id: team.projectId, secrets: { [key]: team.seal(key, 'raced') } },
      })
    const answers = await Promise.all([
      write('RACE_A'),
      app.call(...rekey(team, body)),
      write('RACE_B'),
      write('RACE_C'),
    ])
    const params = { workspace_id: team.workspaceId }
    const { epoch } = await team.owner.api.call(getWorkspace, { params })
    expect(epoch).toBe(answers[1]?.status === 200 ? 2 : 1)
    const stored = await team.owner.api.list(listSecrets, {
      params: { project_id: team.projectId },
      query: { include: 'value' },
    })
    const epochs = stored.map(({ value = '' }) =>
      readValueEpoch(fromBase64(value) ?? new Uint8Array()),
    )
    expect(new Set(epochs)).toEqual(new Set([epoch]))
  })

  test('values that are written while a rekey prepares are replaced with the rest, and no version is lost', async () => {
    const team = await openVault()
    const { body } = await prepareRekey(team)
    const write = () =>
      app.call('POST', '/api/secrets/', {
        token: team.owner.token,
        body: { project_id: team.projectId, secrets: { DB_URL: team.seal('DB_URL', 'raced') } },
      })
    let written = 0
    const writeOn = async () => {
      while ((await write()).status === 200) written += 1
    }
    const writers = [writeOn(), writeOn(), writeOn()]
    expect((await app.call(...rekey(team, body))).status).toBe(200)
    await Promise.all(writers)
    const params = { project_id: team.projectId, key: 'DB_URL' }
    const versions = await team.owner.api.call(listVersions, { params })
    expect(versions.map(({ version }) => version)).toEqual([written + 2])
    expect(written).toBeGreaterThan(0)
  })

  test('a writer or inviter with the old epoch is 409 afterwards', async () => {
    const team = await openVault()
    const { body } = await prepareRekey(team)
    await app.call(...rekey(team, body))
    const { token } = team.owner
    const secrets = { NEW_KEY: team.seal('NEW_KEY', 'late') }
    const late = { project_id: team.projectId, secrets }
    await expectRefusal(app, ['POST', '/api/secrets/', { token, body: late }], 'epoch_conflict', {
      fields: [{ path: 'secrets.NEW_KEY', message: 'is sealed for another epoch' }],
    })
    const person = await registerPerson(app)
    const encrypted_workspace_key = await envelopeFor(person, team)
    const invite = { email: person.email, role: 'member', encrypted_workspace_key, epoch: 1 }
    const path = `/api/workspaces/${team.workspaceId}/members/`
    await expectRefusal(app, ['POST', path, { token, body: invite }], 'epoch_conflict')
    await expectRefusal(app, rekey(team, body), 'epoch_conflict')
  })

  test('a database lost in the middle leaves one epoch, and the next attempt succeeds', async () => {
    const team = await openVault()
    const { body } = await prepareRekey(team)
    const { sql } = app.connection
    await sql.unsafe(`create function lose_connection() returns trigger language plpgsql as
      $$ begin raise exception 'gone' using errcode = '57P01'; end $$`)
    await sql.unsafe(`create trigger lost before update of epoch on workspaces
      for each row execute function lose_connection()`)
    await expectRefusal(app, rekey(team, body), 'unavailable')
    await sql.unsafe('drop function lose_connection() cascade')
    const { text } = await readSecret(team, { ...team, epoch: 1 }, 'production', 'DB_URL')
    expect(text).toBe('prod')
    expect((await app.call(...rekey(team, body))).status).toBe(200)
  })
})

describe('a rejected rekey changes nothing', () => {
  let team: ProjectTeam
  let fresh: Rekeying
  let body: RekeyBody

  beforeEach(async () => {
    team ??= await openVault()
    fresh ??= await prepareRekey(team)
    body = structuredClone(fresh.body)
  })

  test.each([0, 1, 3, -1, 65_535, 65_536, 2 ** 53, -1e300])(
    'a rekey is rejected for epoch %d after epoch 1, and for every integer that is not the next',
    async (epoch) => {
      await expectRefusal(app, rekey(team, { ...body, epoch }), 'epoch_conflict')
    },
  )

  test.each([1.5, '2', null])(
    'a rekey is rejected for epoch %j, which is not an integer',
    async (epoch) => {
      const message = epoch === 1.5 ? 'must be an integer' : 'must be of type number'
      await expectRefusal(app, rekey(team, { ...body, epoch }), 'validation_error', {
        fields: [{ path: 'epoch', message }],
      })
    },
  )

  test('a rekey is rejected when a member is missing, and names that member', async () => {
    const [missing] = body.members.splice(0, 1)
    await expectRefusal(app, rekey(team, body), 'validation_error', {
      fields: [{ path: `members.${missing?.user_id}`, message: 'is missing' }],
    })
  })

  test('a rekey is rejected when an invited person is missing', async () => {
    const own = await openVault()
    const { body: complete } = await prepareRekey(own)
    const invited = await registerPerson(app, 'invited')
    await own.invite(invited, 'member')
    await expectRefusal(app, rekey(own, complete), 'validation_error', {
      fields: [{ path: `members.${invited.userId}`, message: 'is missing' }],
    })
  })

  test('a rekey is rejected when secrets are missing, and names them', async () => {
    body.secrets = body.secrets.filter(({ key }) => key !== 'DB_URL')
    const before = await contentOf(app)
    const answer = await app.call(...rekey(team, body))
    const { fields } = answer.body as { fields: { path: string }[] }
    expect(fields.map(({ path }) => path).sort()).toEqual([
      `secrets.${team.projectId}.development.DB_URL`,
      `secrets.${team.projectId}.production.DB_URL`,
    ])
    expect(answer.status).toBe(422)
    expect(await contentOf(app)).toEqual(before)
  })

  test('a rekey is rejected when it names a secret that does not exist', async () => {
    body.secrets.push({ ...(body.secrets[0] as RekeyBody['secrets'][number]), key: 'NOWHERE' })
    await expectRefusal(app, rekey(team, body), 'validation_error', {
      fields: [
        {
          path: `secrets.${body.secrets.length - 1}.key`,
          message: 'is not a secret of this workspace',
        },
      ],
    })
  })

  test.each<[string, unknown]>([
    ['wider', { allowed_methods: ['GET', 'POST'], allowed_domains: ['api.example.com'] }],
    ['gone', null],
    ['left out', undefined],
    ['no JSON text', { allowed_methods: ['\ud800'] }],
  ])('a rekey changes nothing when a policy is %s', async (_, changed) => {
    const index = body.secrets.findIndex(({ policy }) => policy !== null)
    body.secrets[index] = {
      ...(body.secrets[index] as RekeyBody['secrets'][number]),
      policy: changed,
    }
    await expectRefusal(app, rekey(team, body), 'validation_error', {
      fields: [{ path: `secrets.${index}.policy`, message: 'must equal the stored policy' }],
    })
  })

  test('a rekey is rejected when one value is still under the old key', async () => {
    const at = body.secrets.findIndex(({ environment }) => environment === 'production')
    const value = team.seal('DB_URL', 'stale', { environment: 'production' })
    body.secrets[at] = { ...(body.secrets[at] as RekeyBody['secrets'][number]), value }
    await expectRefusal(app, rekey(team, body), 'epoch_conflict', {
      fields: [{ path: `secrets.${at}.value`, message: 'is not for the new epoch' }],
    })
  })

  test('a rekey is rejected when a token envelope is for another epoch or outside the scope of its token', async () => {
    const wide = await addAgent(team, `wide-${Bun.randomUUIDv7()}`)
    const scoped = await addAgent(team, `scoped-${Bun.randomUUIDv7()}`, 'staging')
    const [first] = (await grantFor(team, fresh, wide, 'production')).envelopes
    const stale = [{ token_id: wide.tokenId, envelopes: [{ ...first, epoch: 1 }] }]
    await expectRefusal(app, rekey(team, { ...body, tokens: stale }), 'epoch_conflict', {
      fields: [{ path: 'tokens.0.envelopes.0.epoch', message: 'is not for the new epoch' }],
    })
    const tokens = [await grantFor(team, fresh, scoped, 'production')]
    await expectRefusal(app, rekey(team, { ...body, tokens }), 'validation_error', {
      fields: [{ path: 'tokens.0.envelopes.0', message: 'is outside the scope of the token' }],
    })
  })

  test('a rekey is rejected when an ID is of another workspace, alone or among own ones', async () => {
    const other = await openVault()
    const theirs = await prepareRekey(other)
    const foreignAgent = await addAgent(other, 'foreign')
    const ownAgent = await addAgent(team, `own-${Bun.randomUUIDv7()}`)
    const [member] = body.members
    const [secret] = body.secrets
    const foreignToken = await grantFor(team, fresh, foreignAgent, 'production')
    const foreignProject = await grantFor(other, { ...fresh }, ownAgent, 'production')
    const variants = [
      { members: [...body.members, { ...member, user_id: other.owner.userId }] },
      { members: theirs.body.members },
      { secrets: [...body.secrets, { ...secret, project_id: other.projectId }] },
      { secrets: theirs.body.secrets },
      { tokens: [foreignToken] },
      { tokens: [foreignProject] },
      { tokens: [{ token_id: Bun.randomUUIDv7(), envelopes: [] }] },
    ]
    for (const variant of variants)
      await expectRefusal(app, rekey(team, { ...body, ...variant }), 'not_found')
  })

  const uuid = Bun.randomUUIDv7()
  const envelope = toBase64(Uint8Array.of(1, ...randomBytes(80)))
  const grant = { project_id: uuid, environment: 'production', envelope }
  const secret = { project_id: uuid, environment: 'production', key: 'A', value: 'AAAA' }
  const member = { user_id: uuid, encrypted_workspace_key: 'AAAA' }
  test.each<[string, Record<string, unknown>, string, string]>([
    ['without tokens', { tokens: undefined }, 'tokens', 'is required'],
    ['with a field too many', { force: true }, 'force', 'is not a field of this request'],
    ['for a member twice', { members: [member, member] }, 'members.1', 'is given twice'],
    ['for a secret twice', { secrets: [secret, secret] }, 'secrets.1', 'is given twice'],
    [
      'for a token twice, in other case',
      {
        tokens: [
          { token_id: uuid, envelopes: [] },
          { token_id: uuid.toUpperCase(), envelopes: [] },
        ],
      },
      'tokens.1',
      'is given twice',
    ],
    [
      'for an environment twice in one token',
      { tokens: [{ token_id: uuid, envelopes: [grant, grant] }] },
      'tokens.0.envelopes.1',
      'is given twice',
    ],
    [
      'with an envelope of another form',
      { tokens: [{ token_id: uuid, envelopes: [{ ...grant, envelope: 'AAAA' }] }] },
      'tokens.0.envelopes.0.envelope',
      'must be a token envelope',
    ],
    [
      'with a value that is no canonical base64',
      { secrets: [{ ...secret, value: 'AAB=' }] },
      'secrets.0.value',
      'must be canonical base64 with padding',
    ],
    [
      'with a value too large',
      { secrets: [{ ...secret, value: toBase64(new Uint8Array(98_305)) }] },
      'secrets.0.value',
      'must encode at most 98304 bytes',
    ],
    [
      'with an empty member envelope',
      { members: [{ ...member, encrypted_workspace_key: '' }] },
      'members.0.encrypted_workspace_key',
      'must not be empty',
    ],
  ])('%s', async (_, change, path, message) => {
    await expectRefusal(app, rekey(team, { ...body, ...change }), 'validation_error', {
      fields: [{ path, message }],
    })
  })

  test('a rekey is rejected for a body over 32 MiB', async () => {
    const padding = 'A'.repeat(32 * 1024 * 1024)
    await expectRefusal(app, rekey(team, { ...body, padding }), 'payload_too_large', {
      message: 'The request body may have at most 33554432 bytes.',
    })
  })

  test('the same body without an error is accepted in the end', async () => {
    const { data } = (await app.call(...rekey(team, await prepareRekey(team).then((r) => r.body))))
      .body as { data: { epoch: number } }
    expect(data.epoch).toBe(2)
    const params = { workspace_id: team.workspaceId }
    const input = {
      params,
      body: (await prepareRekey({ ...team, workspaceKey: fresh.workspaceKey })).body,
    }
    expect(await team.owner.api.call(rekeyWorkspace, input)).toMatchObject({ epoch: 3 })
  })
})
