// tier: quick
/** New keys of an account: everything that was sealed to the old ones is replaced with them, or nothing is. */
import { beforeAll, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { wrapKeys } from '../../../src/client/account/account_keys.ts'
import { generateRecoveryKey, recoveryVerifier, userKey } from '../../../src/client/account/keys.ts'
import { openMemberEnvelope } from '../../../src/core/crypto/envelope.ts'
import type { replaceKeys } from '../../../src/features/accounts/contract.ts'
import { issueWorkloadToken } from '../../../src/features/agents/contract.ts'
import { listWorkspacesEndpoint } from '../../../src/features/workspaces/contract.ts'
import type { InputOf } from '../../../src/http/endpoint.ts'
import { identityOf, proveKeys } from '../../../src/sigchain/index.ts'
import { sharedApp, type TestApp } from '../../support/app.ts'
import { recordedChanges } from '../../support/audit.ts'
import {
  envelopeFor,
  logInAs,
  type Person,
  recoveryFields,
  registerPerson,
} from '../../support/people.ts'
import {
  type SignedPerson,
  type SignedWorkspace,
  signedAccount,
  signedWorkspace,
} from '../../support/signed.ts'
import { clientMade, mint, signedProject } from '../../support/statements.ts'
import { openTeam } from '../../support/teams.ts'
import { refusal, refusedField, said, writesNothing } from './support.ts'

const PATH = '/api/users/me/keys/'

let app: TestApp
beforeAll(async () => {
  app = await sharedApp()
})

type Body = InputOf<typeof replaceKeys, 'body'>
type Key = { workspaceId: string; workspaceKey: Uint8Array }

/** A person's new keys, and the body that sets them. */
async function newKeys(person: Person, places: readonly Key[], email = person.email) {
  const seed = new Uint8Array(randomBytes(32))
  const identity = await identityOf(seed)
  const publicKey = new Uint8Array(Buffer.from(identity.public_key, 'base64'))
  const keys = { seed, privateKey: identity.privateKey, publicKey }
  const changed = { ...person, ...keys, identity }
  const workspaces = places.map(async (place) => ({
    workspace_id: place.workspaceId,
    encrypted_workspace_key: await envelopeFor(changed, place),
  }))
  const body: Body = {
    current_password: person.password,
    signing_key: identity.signing_key,
    public_key: identity.public_key,
    key_proof: await proveKeys(identity, email),
    encrypted_private_key: await wrapKeys('account', userKey(person.masterKey), keys),
    workspaces: await Promise.all(workspaces),
  }
  return { changed, body }
}

const send = ({ token }: Person, body: Body) => app.call('POST', PATH, { token, body })

/** The body with the link of a signed workspace, which is signed with the previous keys. */
async function signedFor(person: SignedPerson, workspace: SignedWorkspace) {
  const { changed, body } = await newKeys(person, [person, workspace])
  const { signing_key, public_key } = body
  const link = await workspace.link('keys.rotated', { signing_key, public_key }, person)
  const workspaces = body.workspaces.map((entry) =>
    entry.workspace_id === workspace.workspaceId ? { ...entry, link } : entry,
  )
  return { changed, body: { ...body, workspaces } }
}

async function keysOf({ token }: Person) {
  const { body } = await app.call('GET', '/api/users/me/', { token })
  const { signing_key, public_key } = (body as { data: Record<string, string | null> }).data
  return { signing_key, public_key }
}

/** The opened contents of a person's envelopes. */
async function openedBy(person: SignedPerson): Promise<Record<string, string>> {
  const listed = await person.api.list(listWorkspacesEndpoint, {})
  const opened = listed.map(async ({ id: workspaceId, epoch, encrypted_workspace_key: text }) => {
    const place = { workspaceId, recipientPublicKey: person.publicKey, epoch }
    const key = await openMemberEnvelope(place, person.privateKey, text ?? '')
    return [workspaceId, Buffer.from(key ?? []).toString('hex')]
  })
  return Object.fromEntries(await Promise.all(opened))
}

const mustRekey = async (workspaceId: string) => {
  const [row] = await app.connection.sql`
    select rekey_required from workspaces where id = ${workspaceId}`
  return row?.rekey_required
}

test('an account gets its first signing key, and still opens what it could open before', async () => {
  const ada = await registerPerson(app, 'ada')
  const other = await logInAs(app, ada)
  const { changed, body } = await newKeys(ada, [ada])
  expect((await send(ada, body)).status).toBe(200)
  const { signing_key, public_key } = body
  expect(await keysOf(ada)).toEqual({ signing_key, public_key })
  expect(await openedBy(changed)).toEqual({
    [ada.workspaceId]: Buffer.from(ada.workspaceKey).toString('hex'),
  })
  expect((await app.call('GET', '/api/users/me/', { token: other.token })).status).toBe(401)
  expect(await mustRekey(ada.workspaceId)).toBe(true)
  expect(await recordedChanges(app, ada.workspaceId)).toContain(`member.keys_rotated ${ada.email}`)
  expect((await logInAs(app, ada)).token).toBeString()
})

test('a recovery copy that opens to the old keys is removed, or replaced with the new ones', async () => {
  const bob = await registerPerson(app, 'bob')
  const begin = (key: Uint8Array) => {
    const body = { email: bob.email, recovery_verifier: recoveryVerifier(key) }
    return app.call('POST', '/api/auth/recover/begin/', { body })
  }
  expect((await begin(bob.recoveryKey)).status).toBe(200)
  await send(bob, (await newKeys(bob, [bob])).body)
  expect((await begin(bob.recoveryKey)).status).toBe(401)
  const { changed, body } = await newKeys(bob, [bob])
  const recoveryKey = generateRecoveryKey()
  const recovery = recoveryFields({ ...changed, recoveryKey })
  expect((await send(bob, { ...body, recovery })).status).toBe(200)
  expect((await begin(recoveryKey)).status).toBe(200)
})

describe('a rejected key change writes nothing', () => {
  let carol: SignedPerson
  let body: Body
  beforeAll(async () => {
    carol = await signedAccount(app, 'carol')
    body = (await newKeys(carol, [carol])).body
  })
  const refuses = async (wrong: Body, expected: ReturnType<typeof refusal>) =>
    expect(said(await writesNothing(app, () => send(carol, wrong)))).toEqual(expected)

  test('a key change with a wrong password is rejected, so a stolen session cannot change keys', () =>
    refuses({ ...body, current_password: 'wrong' }, refusedField('current_password', 'is wrong')))

  test('a key change without proof that one person holds both keys is rejected', async () => {
    const { body: others } = await newKeys(carol, [carol], 'eve@people.example')
    const message = 'must be a signature by signing_key of address and keys'
    await refuses(others, refusedField('key_proof', message))
    await refuses({ ...body, key_proof: others.key_proof }, refusedField('key_proof', message))
  })

  test('a key change with the previous keys is rejected', async () => {
    const { signing_key, public_key } = carol.identity
    const fields = ['signing_key', 'public_key'].map((path) => ({
      path,
      message: 'must be different',
    }))
    await refuses({ ...body, signing_key, public_key }, refusal('validation_error', { fields }))
  })

  test("a key change without one of the person's workspaces is rejected", async () => {
    const team = await openTeam(app)
    await team.invite(carol, 'member')
    await app.call('POST', `/api/workspaces/${team.workspaceId}/accept/`, { token: carol.token })
    await refuses(body, refusedField(`workspaces.${team.workspaceId}`, 'is missing'))
    const missing = [carol.workspaceId, team.workspaceId].sort()
    const answer = await send(carol, { ...body, workspaces: [] })
    const { fields } = answer.body as { fields: { path: string }[] }
    expect(fields.map(({ path }) => path).sort()).toEqual(missing.map((id) => `workspaces.${id}`))
  })

  test('a key change with a foreign workspace, or with one twice, is rejected', async () => {
    const [own] = body.workspaces
    if (!own) throw new Error('no workspace')
    const foreign = { ...own, workspace_id: (await registerPerson(app)).workspaceId }
    await refuses({ ...body, workspaces: [own, foreign] }, refusal('not_found'))
    await refuses(
      { ...body, workspaces: [own, own] },
      refusedField('workspaces.1.workspace_id', 'is given twice'),
    )
  })
})

test('keys can change ten times a day, because each change adds a link to every signed workspace', async () => {
  let fay = await registerPerson(app, 'fay')
  const next = async () => {
    const { changed, body } = await newKeys(fay, [fay])
    const answer = await send(fay, body)
    if (answer.status === 200) fay = { ...fay, ...changed }
    return answer
  }
  for (let count = 0; count < 10; count += 1) expect((await next()).status).toBe(200)
  const refused = await writesNothing(app, next)
  expect(refused).toMatchObject({ status: 429, body: { error_code: 'rate_limited' } })
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(60)
  const bob = await registerPerson(app, 'bob2')
  expect((await send(bob, (await newKeys(bob, [bob])).body)).status).toBe(200)
})

test('an envelope of another epoch is rejected', async () => {
  const dan = await registerPerson(app, 'dan')
  const { body } = await newKeys(dan, [dan])
  const of = (epoch: number) => body.workspaces.map((entry) => ({ ...entry, epoch }))
  const answer = await writesNothing(app, () => send(dan, { ...body, workspaces: of(2) }))
  expect(said(answer)).toEqual(refusal('epoch_conflict'))
  expect((await send(dan, { ...body, workspaces: of(1) })).status).toBe(200)
})

describe('in a signed workspace', () => {
  let ada: SignedPerson
  let eve: SignedPerson
  let workspace: SignedWorkspace
  beforeAll(async () => {
    ada = await signedAccount(app, 'ada')
    workspace = await signedWorkspace(app, ada)
    eve = await workspace.join('admin')
  })

  test('new keys require a link that is signed with the old key and names them', async () => {
    const { body } = await signedFor(eve, workspace)
    const plain = body.workspaces.map(({ link: _, ...entry }) => entry)
    const required = await writesNothing(app, () => send(eve, { ...body, workspaces: plain }))
    expect(required).toMatchObject({ status: 422, body: { error_code: 'link_required' } })
    const { body: others } = await signedFor(eve, workspace)
    const wrong = { ...others, workspaces: body.workspaces }
    const refused = await writesNothing(app, () => send(eve, wrong))
    expect(refused).toMatchObject({ status: 422, body: { error_code: 'link_refused' } })
    const byOther = await workspace.link(
      'keys.rotated',
      { signing_key: body.signing_key, public_key: body.public_key },
      ada,
    )
    const stolen = body.workspaces.map((entry) =>
      entry.link ? { ...entry, link: byOther } : entry,
    )
    const forged = await writesNothing(app, () => send(eve, { ...body, workspaces: stolen }))
    expect(forged).toMatchObject({ status: 422, body: { error_code: 'link_refused' } })
  })

  test('new keys are valid for the chain, for the account and for later signatures', async () => {
    const { changed, body } = await signedFor(eve, workspace)
    expect((await send(eve, body)).status).toBe(200)
    const member = (await workspace.chain()).members.get(eve.userId)
    const { signing_key, public_key } = body
    expect(member).toMatchObject({ signing_key, public_key, role: 'admin' })
    expect(await keysOf(eve)).toEqual({ signing_key, public_key })
    expect(await mustRekey(workspace.workspaceId)).toBe(true)
    const path = `/api/workspaces/${workspace.workspaceId}/allowlist/`
    const add = async (signer: SignedPerson, domain: string) => {
      const link = await workspace.link('allowlist.changed', { add: [domain], remove: [] }, signer)
      return app.call('POST', path, { token: eve.token, body: { domains: [domain], link } })
    }
    expect((await add(eve, 'old.example')).status).toBe(422)
    expect((await add(changed, 'new.example')).status).toBe(201)
  })

  test('a call that fails leaves no link, envelope or key', async () => {
    const { body } = await signedFor(ada, workspace)
    const entries = body.workspaces.map((entry) => ({ ...entry, epoch: entry.link ? 1 : 2 }))
    const before = (await workspace.chain()).seq
    const answer = await writesNothing(app, () => send(ada, { ...body, workspaces: entries }))
    expect(said(answer)).toEqual(refusal('epoch_conflict'))
    expect((await workspace.chain()).seq).toBe(before)
    expect((await send(ada, body)).status).toBe(200)
  })

  test("statements about tokens that the old key signed end, and other people's statements stay", async () => {
    const { sql } = app.connection
    const project = await signedProject(app)
    const admin = await project.join('admin')
    const issue = async (label: string, signer: SignedPerson) => {
      const token = await clientMade(project, mint(), { label }, { signer })
      const params = { project_id: project.projectId }
      await signer.api.call(issueWorkloadToken, { params, body: { token } })
      return token.id
    }
    const [stays] = [await issue('stays', project.owner), await issue('ends', admin)]
    expect((await send(admin, (await signedFor(admin, project)).body)).status).toBe(200)
    const live = await sql`
      select id from tokens where workspace_id = ${project.workspaceId} and revoked_at is null`
    const sealed = await sql`
      select token_id from token_envelopes where workspace_id = ${project.workspaceId}`
    expect([live.map(({ id }) => id), sealed.map((row) => row.token_id)]).toEqual([
      [stays],
      [stays],
    ])
  })
})
