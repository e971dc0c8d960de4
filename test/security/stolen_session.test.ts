// tier: quick
/**
 * An access token alone, stolen from a user's machine, changes nothing that is trusted in a signed workspace:
 * the thief would need a signature or the password. Every endpoint that sessions may call has a verdict here; a
 * new one without a verdict fails.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { toBase64Url } from '../../src/core/crypto/encoding.ts'
import type { FaultCode, FieldFault } from '../../src/core/fault.ts'
import { approvals, proposals } from '../../src/database/schema/index.ts'
import { listAllEndpoints } from '../../src/dev/all_endpoints.ts'
import { issueWorkloadToken, registerAgent } from '../../src/features/agents/contract.ts'
import { createNoticeTarget } from '../../src/features/notices/contract.ts'
import { createProject, deleteProject } from '../../src/features/projects/contract.ts'
import { deleteSecret, upsertSecrets } from '../../src/features/secrets/contract.ts'
import type { Endpoint } from '../../src/http/endpoint.ts'
import { exampleOfForm } from '../../src/http/fields.ts'
import { identityOf, signText } from '../../src/sigchain/index.ts'
import { addTo, sealedSeed } from '../features/passkeys/support.ts'
import { callJson, startTestApp, type TestApp } from '../support/app.ts'
import { ORIGIN, openPasskey } from '../support/authenticator.ts'
import { type Call, contentOf } from '../support/failure.ts'
import { envelopeFor, logInAs, type Person, registrationOf } from '../support/people.ts'
import {
  personOf,
  type Said,
  type SignedPerson,
  signedAccount,
  signedBy,
} from '../support/signed.ts'
import {
  bindingOf,
  clientMade,
  envelopeOf,
  type Granted,
  grantOf,
  type Minted,
  manifestOf,
  mint,
  type SignedProject,
  signedProject,
} from '../support/statements.ts'
import { ciphertext, unique } from './matrix_world.ts'

let app: TestApp
let project: SignedProject
let owner: SignedPerson
/** A thief with the owner's session and other keys. */
let thief: SignedPerson
let member: SignedPerson
let guest: SignedPerson
let agentId: string
let agentToken: Minted
let workload: Minted
let values: Record<string, string>

const development = { environment: 'development' }
const inProject = () => ({ project_id: project.projectId })
const inWorkspace = () => ({ workspace_id: project.workspaceId })
const ofAgent = () => ({ ...inWorkspace(), registration_id: agentId })
const ofAgentToken = () => ({ ...ofAgent(), token_id: agentToken.id })
const ofWorkload = () => ({ ...inProject(), token_id: workload.id })
const asAgents = (agent_id: string): Granted => ({
  ...{ kind: 'agent', agent_id, label: unique('label') },
  ...{ project_id: null, environment: null, capabilities: ['use'] },
})

beforeAll(async () => {
  app = await startTestApp({ RATE_API: '100000/1', RATE_LOGIN: '1000/1', PASSKEY_ORIGINS: ORIGIN })
  project = await signedProject(app)
  owner = project.owner
  thief = { ...owner, identity: await identityOf(new Uint8Array(randomBytes(32))) }
  member = await project.join('member')
  guest = await signedAccount(app, 'guest')
  for (const domain of ['api.example.com', 'log']) {
    const link = await project.link('allowlist.changed', { add: [domain], remove: [] })
    await app.call('POST', `/api/workspaces/${project.workspaceId}/allowlist/`, {
      token: owner.token,
      body: { domain, link },
    })
  }
  await storeSecrets()
  agentId = Bun.randomUUIDv7()
  ;[agentToken, workload] = [mint(), mint()]
  await owner.api.call(registerAgent, {
    params: inWorkspace(),
    body: {
      id: agentId,
      name: unique('agent'),
      token: await clientMade(project, agentToken, asAgents(agentId)),
    },
  })
  const token = await clientMade(project, workload, { label: unique('label') })
  await owner.api.call(issueWorkloadToken, { params: inProject(), body: { token } })
}, 60_000)
afterAll(() => app.stop())

/** One of two versions, and one that was deleted. */
async function storeSecrets(): Promise<void> {
  const store = async (key: string, text: string, revision: number) => {
    const value = project.seal(key, text)
    values = { ...values, [key]: value }
    const manifest = await manifestOf(project, values, revision)
    const body = { ...inProject(), secrets: { [key]: value }, manifest }
    await owner.api.call(upsertSecrets, { body })
  }
  await store('KEY', 'one', 1)
  await store('KEY', 'two', 2)
  await store('GONE', 'three', 3)
  const { GONE: _, ...left } = values
  values = left
  const manifest = await manifestOf(project, values, 4)
  const params = { ...inProject(), key: 'GONE' }
  await owner.api.call(deleteSecret, { params, query: development, body: { manifest } })
}

type Request = { params?: Record<string, string>; query?: object; body?: object; by?: Person }
type Made = Request | Promise<Request>
type Verdict =
  /** Rejected without a signature, and with one by the thief's own key. */
  | { signed: () => Made; forged?: () => object | Promise<object>; linkBody?: () => Said }
  /** Requires the password, or an answer to a challenge that only the password gets. */
  | { password: () => Made; at?: string }
  /** Removes an object, or grants one without permissions: no signed text is added. */
  | { stops: () => Made }
  /** Changes no trusted state, for this reason. */
  | { free: () => Made; because: string }

const link = (linkBody: () => Said, signed: () => Made): Verdict => ({ signed, linkBody })
const manifest = (left: () => Record<string, string>, signed: () => Made): Verdict => ({
  signed,
  forged: async () => ({ manifest: await manifestOf(project, left(), 5, { signer: thief }) }),
})
const password = (body: (person: Person) => Promise<object>): Verdict => ({
  password: async () => ({
    body: { current_password: 'not the password', ...(await body(owner)) },
  }),
})

const said = (type: Said['type'], body: object) => ({ type, body }) as Said
const allows = (add: string[], remove: string[]) => said('allowlist.changed', { add, remove })
const puts = (person: SignedPerson) =>
  said('members.put', { members: [{ ...personOf(person), role: 'admin' }] })
const invites = async () => [
  {
    email: guest.email,
    role: 'admin',
    encrypted_workspace_key: await envelopeFor(guest, project),
  },
]

const newPassword = async (person: Person) => {
  const { key_salt, encrypted_private_key } = await registrationOf(person)
  return { new_password: 'a new password', key_salt, encrypted_private_key }
}

/** A token that a client made, without an administrator's signature about it. */
async function unsigned(granted: Granted = {}) {
  const { grant, binding: _, envelopes: __, ...token } = await clientMade(project, mint(), granted)
  expect(grant).toBeDefined()
  return { ...token, envelopes: [] }
}
const forgedToken = (granted: () => Granted) => async () => ({
  token: await clientMade(project, mint(), granted(), { signer: thief }),
})
const forgedGrant = (token: () => Minted, granted: () => Granted) => async () => ({
  grant: await grantOf(project, token(), granted(), { signer: thief }),
  binding: await bindingOf(project, token()),
})
const bare = async (token: Minted) => {
  const { statement: _, signature: __, ...entry } = await envelopeOf(project, token)
  return [entry]
}

const WRONG: Record<string, string> = {
  current_password: 'is wrong',
  credential: 'is not a response to a challenge of this session',
}
const ofPasskey = async (person: Person = owner) => ({
  passkey_id: String((await addTo(app, person)).shown.id),
})

const verdicts: Record<string, Verdict> = {
  'auth.logout': {
    free: async () => ({ by: { ...owner, ...(await logInAs(app, owner)) } }),
    because: 'it ends a session',
  },
  'auth.sessions.revoke': {
    free: async () => {
      const other = await logInAs(app, owner)
      const { body } = await app.call('GET', '/api/auth/sessions/', { token: other.token })
      const { data } = body as { data: { id: string; current: boolean }[] }
      return { params: { session_id: data.find(({ current }) => current)?.id ?? '' } }
    },
    because: 'it ends a session',
  },
  // Uses another person, because an account has a limited number of wrong passwords.
  'auth.passkeys.begin': {
    password: () => ({
      by: guest,
      body: { current_password: 'not the password', origin: ORIGIN },
    }),
  },
  'auth.passkeys.add': {
    password: async () => ({
      body: { label: 'Mine', credential: (await openPasskey()).create('a challenge of nobody') },
    }),
    at: 'credential',
  },
  'auth.passkeys.rename': {
    free: async () => ({ params: await ofPasskey(), body: { label: 'Another' } }),
    because: 'it is what a list calls a passkey',
  },
  'auth.passkeys.remove': {
    free: async () => ({ params: await ofPasskey() }),
    because: 'it removes a way to sign in, and the password stays',
  },
  'auth.passkeys.set_seed': {
    password: async () => ({
      by: guest,
      params: await ofPasskey(guest),
      body: { current_password: 'not the password', encrypted_seed: sealedSeed() },
    }),
  },
  'auth.change_password': password(newPassword),
  'auth.patch_password': password(newPassword),
  'auth.recovery.replace': password(async (person) => {
    const { recovery } = await registrationOf(person)
    return { recovery }
  }),
  'auth.delete_account': password(async () => ({})),
  'users.replace_keys': password(async (person) => ({
    ...{ public_key: exampleOfForm.publicKey, signing_key: exampleOfForm.signingKey },
    ...{ key_proof: exampleOfForm.keyProof, workspaces: [] },
    encrypted_private_key: (await registrationOf(person)).encrypted_private_key,
  })),

  'workspaces.create': {
    free: () => ({ body: { name: 'Mine', encrypted_workspace_key: exampleOfForm.envelope } }),
    because: 'it is another workspace, and not signed',
  },
  'workspaces.rename': {
    free: () => ({ params: inWorkspace(), body: { name: 'Renamed' } }),
    because: 'names are not signed',
  },
  'workspaces.accept': {
    free: async () => {
      const person = await signedAccount(app, 'accepting')
      await project.invite(person, 'read_only')
      return { params: inWorkspace(), by: person }
    },
    because: 'who was invited is a member by the link of the invitation',
  },
  'workspaces.delete': link(
    () => said('workspace.deleted', {}),
    () => ({ params: inWorkspace() }),
  ),
  'workspaces.decline': {
    stops: async () => {
      const person = await signedAccount(app, 'declining')
      await project.invite(person, 'read_only')
      return { params: inWorkspace(), by: person }
    },
  },
  'workspaces.rekey': link(
    () => said('epoch.advanced', { epoch: 2, key_commitment: exampleOfForm.publicKey }),
    async () => ({
      params: inWorkspace(),
      body: {
        epoch: 2,
        members: [...(await project.chain()).members.keys()].map((user_id) => ({
          user_id,
          encrypted_workspace_key: exampleOfForm.envelope,
        })),
        tokens: [],
        secrets: [{ ...inProject(), ...development, key: 'KEY', value: ciphertext, policy: null }],
      },
    }),
  ),
  'members.invite': link(
    () => puts(guest),
    async () => ({ params: inWorkspace(), body: { invites: await invites() } }),
  ),
  'members.change_role': link(
    () => puts(member),
    () => ({ params: { ...inWorkspace(), member: member.userId }, body: { role: 'admin' } }),
  ),
  'members.remove': link(
    () => said('members.removed', { user_ids: [member.userId] }),
    () => ({ params: { ...inWorkspace(), member: member.userId } }),
  ),
  'allowlist.add': link(
    () => allows(['evil.example.com'], []),
    () => ({ params: inWorkspace(), body: { domains: ['evil.example.com'] } }),
  ),
  'allowlist.remove': link(
    () => allows([], ['api.example.com']),
    () => ({ params: { ...inWorkspace(), domain: 'api.example.com' } }),
  ),
  'allowlist.remove_log': link(
    () => allows([], ['log']),
    () => ({ params: inWorkspace() }),
  ),

  'projects.create': {
    free: () => ({ body: { name: unique('made'), ...inWorkspace() } }),
    because: 'it holds nothing, and no token reaches it without a grant',
  },
  'projects.update': {
    free: async () => ({ params: (await spare()).named, body: { description: 'Said' } }),
    because: 'names are not signed',
  },
  'projects.update_short': {
    free: async () => ({ params: (await spare()).short, body: { description: 'Said' } }),
    because: 'names are not signed',
  },
  'projects.delete': { stops: async () => ({ params: (await spare()).named }) },
  'projects.delete_short': { stops: async () => ({ params: (await spare()).short }) },
  'projects.restore': {
    free: async () => {
      const { named, id } = await spare()
      await owner.api.call(deleteProject, { params: named })
      return { params: { project_id: id } }
    },
    because: 'what comes back must be what its manifests say',
  },
  'projects.invite': link(
    () => puts(guest),
    async () => ({ params: inProject(), body: { invites: await invites() } }),
  ),
  'projects.invite_by_name': link(
    () => puts(guest),
    async () => ({
      params: { ...inWorkspace(), project_name: 'api' },
      body: { invites: await invites() },
    }),
  ),
  'projects.environments.create': {
    free: () => ({ params: inProject(), body: { name: unique('made') } }),
    because: 'it holds nothing, and no token reaches it without a grant',
  },
  'projects.environments.delete': manifest(
    () => ({}),
    () => ({ params: { ...inProject(), ...development } }),
  ),
  'secrets.upsert': manifest(
    () => ({ ...values, KEY: ciphertext }),
    () => ({ body: { ...inProject(), secrets: { KEY: ciphertext } } }),
  ),
  'secrets.delete': manifest(
    () => ({}),
    () => ({ params: { ...inProject(), key: 'KEY' }, query: development }),
  ),
  'secrets.rollback': manifest(
    () => values,
    () => ({ params: { ...inProject(), key: 'KEY' }, query: development, body: { version: 1 } }),
  ),
  'secrets.restore': manifest(
    () => values,
    () => ({ params: inProject(), body: { ...development, keys: ['GONE'] } }),
  ),

  'agents.register': {
    signed: async () => ({
      params: inWorkspace(),
      body: { id: Bun.randomUUIDv7(), name: unique('made'), token: await unsigned() },
    }),
    forged: async () => {
      const id = Bun.randomUUIDv7()
      return { id, ...(await forgedToken(() => asAgents(id))()) }
    },
  },
  'agents.register_in_project': {
    signed: async () => ({
      params: { ...inWorkspace(), ...inProject() },
      body: { id: Bun.randomUUIDv7(), name: unique('made'), token: await unsigned() },
    }),
    forged: async () => {
      const id = Bun.randomUUIDv7()
      return { id, ...(await forgedToken(() => ({ ...asAgents(id), ...inProject() }))()) }
    },
  },
  'agents.tokens.issue': {
    signed: async () => ({ params: ofAgent(), body: { token: await unsigned() } }),
    forged: forgedToken(() => asAgents(agentId)),
  },
  'workload_tokens.issue': {
    signed: async () => ({
      params: inProject(),
      body: { label: 'stolen', ...development, token: await unsigned() },
    }),
    forged: forgedToken(() => ({ label: 'stolen' })),
  },
  'agents.tokens.provision': {
    signed: async () => ({ params: ofAgentToken(), body: await bare(agentToken) }),
    forged: () => envelopeOf(project, agentToken, 'development', { signer: thief }),
  },
  'workload_tokens.provision': {
    signed: async () => ({ params: ofWorkload(), body: await bare(workload) }),
    forged: () => envelopeOf(project, workload, 'development', { signer: thief }),
  },
  'agents.tokens.grant': {
    signed: () => ({ params: ofAgentToken(), body: {} }),
    forged: forgedGrant(
      () => agentToken,
      () => asAgents(agentId),
    ),
  },
  'workload_tokens.grant': {
    signed: () => ({ params: ofWorkload(), body: {} }),
    forged: forgedGrant(
      () => workload,
      () => ({}),
    ),
  },
  'agents.tokens.unprovision': {
    stops: () => ({ params: ofAgentToken(), query: { ...inProject(), ...development } }),
  },
  'workload_tokens.unprovision': {
    stops: () => ({ params: ofWorkload(), query: { ...inProject(), ...development } }),
  },
  'agents.tokens.revoke': { stops: () => ({ params: ofAgentToken() }) },
  'agents.delete': { stops: () => ({ params: ofAgent() }) },
  'workload_tokens.revoke': { stops: () => ({ params: ofWorkload() }) },

  'approvals.release': {
    signed: async () => ({
      params: await ofRequest('pending'),
      body: { envelopes: [{ ...inProject(), ...development, key: 'KEY', envelope: sealed }] },
    }),
    forged: forgedRelease,
  },
  'approvals.deny': { stops: async () => ({ params: await ofRequest('pending') }) },
  'approvals.revoke': { stops: async () => ({ params: await ofRequest('released') }) },
  'proposals.close': {
    free: async () => ({ params: await ofProposal(), body: { status: 'accepted' } }),
    because: 'members sign the changes, and closing makes none',
  },
  'notice_targets.create': {
    free: () => ({ params: inWorkspace(), body: { ...ntfy, events: ['rekey.due'] } }),
    because: 'notices have names and hosts, and decide nothing',
  },
  'notice_targets.test': {
    free: async () => ({ params: await ofTarget() }),
    because: 'notices have names and hosts, and decide nothing',
  },
  'notice_targets.delete': { stops: async () => ({ params: await ofTarget() }) },
}

const sealed = exampleOfForm.envelope
const ntfy = { type: 'ntfy', url: 'https://ntfy.example/topic' } as const

/** A request of the agent's token, in the form that its call would have stored. */
async function ofRequest(status: 'pending' | 'released') {
  const id = Bun.randomUUIDv7()
  await app.connection.db.insert(approvals).values({
    ...{ id, status, workspaceId: project.workspaceId, tokenId: agentToken.id, digest: id },
    ...{ agent: 'agent', host: 'api.example.com', method: 'GET', secrets: [] },
    ...{ requestedAt: new Date(), expiresAt: new Date(Date.now() + 600_000) },
  })
  return { ...inWorkspace(), approval_id: id }
}

/** A release of KEY that the thief's own key signs. */
async function forgedRelease() {
  const hash = toBase64Url(randomBytes(32))
  const hashes = { value_sha256: hash, policy_sha256: hash, envelope_sha256: hash }
  const { head } = await project.chain()
  const text = {
    ...({ v: 3, ...inWorkspace(), head, signer: owner.userId, scope: null } as const),
    ...{ approval_id: Bun.randomUUIDv7(), token_id: agentToken.id, digest: hash },
    secrets: [{ ...inProject(), ...development, key: 'KEY', ...hashes }],
    expires_at: new Date(Date.now() + 600_000).toISOString(),
  }
  return signText('release', text, thief.identity.signingKey)
}

async function ofProposal() {
  const id = Bun.randomUUIDv7()
  await app.connection.db.insert(proposals).values({
    ...{
      id,
      workspaceId: project.workspaceId,
      tokenId: agentToken.id,
      contentHash: randomBytes(32),
    },
    ...{ agent: 'agent', reason: 'to deploy', hosts: ['deploy.example.com'], secrets: [] },
    ...{ createdAt: new Date(), expiresAt: new Date(Date.now() + 600_000) },
  })
  return { ...inWorkspace(), proposal_id: id }
}

async function ofTarget() {
  const body = { ...ntfy, events: ['rekey.due' as const] }
  const { id } = await owner.api.call(createNoticeTarget, { params: inWorkspace(), body })
  return { ...inWorkspace(), target_id: id }
}

async function spare() {
  const name = unique('spare')
  const { id } = await owner.api.call(createProject, { body: { name, ...inWorkspace() } })
  return { id, named: { ...inWorkspace(), project_name: name }, short: { project: id } }
}

/** Endpoints that a session may call and that can change something. */
const changing = new Map(
  listAllEndpoints()
    .flatMap(({ endpoints }) => endpoints as readonly Endpoint[])
    .filter(({ method, access: { kind } }) => method !== 'GET' && /^(session|member)$/.test(kind))
    .map((endpoint) => [endpoint.name, endpoint]),
)

function callOf(name: string, { params = {}, query = {}, body, by = owner }: Request): Call {
  const { method = '', path = '' } = changing.get(name) ?? {}
  const filled = path.replace(/\{(\w+)\}/g, (_, part) => encodeURIComponent(params[part] ?? ''))
  const search = new URLSearchParams(query as Record<string, string>)
  return [method, `${filled}?${search}`, { token: by.token, body }]
}

/** Makes the call, which is rejected and leaves every table unchanged. */
async function expectRefused(call: Call, code: FaultCode, fields?: FieldFault[]): Promise<void> {
  const before = await contentOf(app)
  const refusal = { status: 422, body: { error_code: code, ...(fields && { fields }) } }
  expect(await app.call(...call)).toMatchObject(refusal)
  expect(await contentOf(app)).toEqual(before)
}

/** All signed texts, and everyone's role. */
async function signedTexts(): Promise<Set<string>> {
  const { sql } = app.connection
  const rows = await sql<{ text: string }[]>`
    select statement || encode(signature, 'hex') as text from workspace_links
    union all select statement || encode(signature, 'hex') || encode(binding, 'hex') from token_grants
    union all select statement || encode(signature, 'hex') from manifests
    union all select concat(token_id, encode(envelope, 'hex'), statement) from token_envelopes
    union all select concat(user_id, role) from memberships
      where workspace_id = ${project.workspaceId}
    union all select domain from allowlist_entries
    union all select concat(id, public_key, signing_key) from users`
  return new Set(rows.map(({ text }) => text))
}

async function expectDone(call: Call): Promise<void> {
  const answer = await app.call(...call)
  expect([200, 201, JSON.stringify(answer.body)]).toContain(answer.status)
}

test('every endpoint by which a session changes something has a verdict', () => {
  expect(Object.keys(verdicts).sort()).toEqual([...changing.keys()].sort())
})

describe('a stolen access token', () => {
  for (const [name, verdict] of Object.entries(verdicts)) {
    if ('signed' in verdict) {
      test(`a stolen access token is rejected by ${name} without a signature, and with one by another key`, async () => {
        const request = await verdict.signed()
        // If the signature is the request, it counts as a missing field.
        const isRequest = /\.(grant|release)$/.test(name)
        const missing = isRequest ? 'validation_error' : 'link_required'
        await expectRefused(callOf(name, request), missing)
        const { linkBody, forged = () => ({}) } = verdict
        const signer = { ...(request.by ?? owner), identity: thief.identity } as SignedPerson
        const text = linkBody && { link: await signedBy(signer, await project.chain(), linkBody()) }
        const added = text ?? (await forged())
        const body = Array.isArray(request.body) ? [added] : { ...request.body, ...added }
        await expectRefused(callOf(name, { ...request, body }), 'link_refused')
      })
    } else if ('password' in verdict) {
      test(`a stolen access token needs the password for ${name}`, async () => {
        const { password, at = 'current_password' } = verdict
        const wrong = [{ path: at, message: WRONG[at] ?? '' }]
        await expectRefused(callOf(name, await password()), 'validation_error', wrong)
      })
    } else if ('free' in verdict) {
      test(`a stolen access token may call ${name}: ${verdict.because}`, async () => {
        const request = await verdict.free()
        const before = await signedTexts()
        await expectDone(callOf(name, request))
        expect([...(await signedTexts())].sort()).toEqual([...before].sort())
      })
    }
  }

  for (const [name, token, params] of [
    ['agents.tokens.grant', () => agentToken, ofAgentToken],
    ['workload_tokens.grant', () => workload, ofWorkload],
  ] as const) {
    test(`a stolen access token spoils no token by ${name}: a grant that returns brings no other binding`, async () => {
      const { sql } = app.connection
      const [grant = {}] = await sql<object[]>`select statement,
        translate(encode(signature, 'base64'), E'\n', '') as signature
        from token_grants where token_id = ${token().id}`
      const sent = (binding?: string) =>
        callOf(name, { params: params(), body: { grant, ...(binding && { binding }) } })
      const junk = randomBytes(32).toString('base64')
      const fields = [{ path: 'binding', message: 'it differs from the stored one' }]
      await expectRefused(sent(junk), 'link_refused', fields)
      await expectDone(sent(await bindingOf(project, token())))
      await expectDone(sent())
    })
  }

  test('creates only tokens without rights', async () => {
    const before = await signedTexts()
    const body = { label: unique('label'), ...development, capabilities: ['use', 'read'] }
    const call: Call = [
      'POST',
      `/api/projects/${project.projectId}/workload-tokens/`,
      { token: owner.token, body },
    ]
    const { body: issued } = await app.call(...call)
    const { token } = (issued as { data: { token: string } }).data
    expect(await signedTexts()).toEqual(before)
    for (const path of ['/v1/credentials/', '/v1/allowlist/'])
      expect(await callJson(app.resolver, 'GET', path, { token })).toMatchObject({
        status: 409,
        body: { error_code: 'key_not_provisioned' },
      })
  })

  for (const [name, verdict] of Object.entries(verdicts)) {
    if (!('stops' in verdict)) continue
    test(`a stolen access token may stop things by ${name}, and adds no trusted state`, async () => {
      const request = await verdict.stops()
      const before = await signedTexts()
      await expectDone(callOf(name, request))
      expect([...(await signedTexts()).difference(before)]).toEqual([])
    })
  }
})
