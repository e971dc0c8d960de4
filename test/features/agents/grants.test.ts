// tier: quick
/** Tokens of signed workspaces: their permissions are those that an administrator signed. */
import { beforeAll, describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { parseToken } from '../../../src/core/crypto/token.ts'
import type { FaultCode } from '../../../src/core/fault.ts'
import { tokenEnvelopes, tokenGrants, tokens } from '../../../src/database/schema/index.ts'
import {
  grantAgentToken,
  grantWorkloadToken,
  issueWorkloadToken,
  listAgentTokens,
  listWorkloadTokens,
  provisionWorkloadToken,
  registerAgent,
} from '../../../src/features/agents/contract.ts'
import {
  isSignedId,
  readFirstHash,
  requireBinding,
  type SignedText,
  verifyEnvelope,
  verifyGrant,
} from '../../../src/sigchain/index.ts'
import { sharedApp, type TestApp } from '../../support/app.ts'
import { contentOf, expectFailure } from '../../support/failure.ts'
import { openProject, type ProjectTeam } from '../../support/project.ts'
import { signedAccount } from '../../support/signed.ts'
import {
  bindingOf,
  clientMade,
  envelopeOf,
  type Granted,
  grantOf,
  type Minted,
  mint,
  type SignedProject,
  signedProject,
} from '../../support/statements.ts'
import { clientMadeToken } from './stored.ts'

const DAY_MS = 86_400_000

let app: TestApp
let project: SignedProject
let plain: ProjectTeam

beforeAll(async () => {
  app = await sharedApp()
  project = await signedProject(app)
  plain = await openProject(app)
})

const inProject = () => ({ project_id: project.projectId })
const ofToken = (id: string) => ({ ...inProject(), token_id: id })
const workloadPath = () => `/api/projects/${project.projectId}/workload-tokens/`
const grantPath = (id: string) => `${workloadPath()}${id}/grant/`
const refusal = (path: string, why: string) => ({ fields: [{ path, message: why }] })
const missing = (path: string) => refusal(path, 'is missing')

let labels = 0
const unique = () => {
  labels += 1
  return `label ${labels}`
}

async function expectRefused(
  [method, path, body]: readonly [string, string, object],
  code: FaultCode,
  details: Parameters<typeof expectFailure>[2] = {},
) {
  const before = await contentOf(app)
  expectFailure(await app.call(method, path, { token: project.owner.token, body }), code, details)
  expect(await contentOf(app)).toEqual(before)
}

async function issue(granted: Granted = {}): Promise<Minted & { label: string }> {
  const [token, label] = [mint(), granted.label ?? unique()]
  const body = { token: await clientMade(project, token, { label, ...granted }) }
  await project.owner.api.call(issueWorkloadToken, { params: inProject(), body })
  return { ...token, label }
}

async function listed(id: string) {
  const all = await project.owner.api.list(listWorkloadTokens, { params: inProject() })
  return all.find((one) => one.id === id)
}

/** Verifies everything about a token that a resolver will verify, from the stored data. */
async function expectHolds(token: Minted) {
  const chain = await project.chain()
  const [grant] = await app.connection.db
    .select()
    .from(tokenGrants)
    .where(eq(tokenGrants.tokenId, token.id))
  const signed = { statement: grant?.statement ?? '', signature: inBase64(grant?.signature) }
  const text = await verifyGrant(chain, signed, { id: token.id }, new Date())
  await requireBinding(token, readFirstHash(chain), inBase64(grant?.binding))
  return text
}

const inBase64 = (bytes: Uint8Array | null | undefined) =>
  Buffer.from(bytes ?? []).toString('base64')

describe('a client-made token', () => {
  test('a client-made token has the fields of its grant, without other fields in the request', async () => {
    const label = unique()
    const expires_at = new Date(Date.now() + 30 * DAY_MS).toISOString()
    const token = await issue({ label, capabilities: ['read'], expires_at })
    expect(await expectHolds(token)).toMatchObject({ label, token_id: token.id, expires_at })
    const shown = await listed(token.id)
    expect(shown).toMatchObject({
      ...{ label, capabilities: ['read'], environment: 'development' },
      ...{ expires_at, expires_in_days: 30, status: 'active' },
    })
    expect(JSON.parse(shown?.grant?.statement ?? '').label).toBe(label)
    const [granted] = shown?.provisioned ?? []
    expect(granted).toMatchObject({ ...inProject(), environment: 'development', epoch: 1 })
    const signed = { statement: granted?.statement ?? '', signature: granted?.signature ?? '' }
    const place = { projectId: project.projectId, environment: 'development' }
    const entry = { tokenId: token.id, ...place, epoch: 1, envelope: null }
    await verifyEnvelope(await project.chain(), signed, entry)
  })

  test('a token that a client made for an agent has the agent id that the client chose', async () => {
    const { api, workspaceId } = { ...project.owner, ...project }
    const agentId = Bun.randomUUIDv7()
    const token = mint()
    const granted = {
      ...({ kind: 'agent', agent_id: agentId, label: 'mine' } as const),
      ...({ project_id: null, environment: null, capabilities: ['use'] } as const),
    }
    const made = await clientMade(project, token, granted as Granted)
    const registered = await api.call(registerAgent, {
      params: { workspace_id: workspaceId },
      body: { id: agentId, name: 'chosen', token: made },
    })
    expect(registered).toMatchObject({ token: null, agent: { id: agentId }, token_id: token.id })
    expect(await expectHolds(token)).toMatchObject({ agent_id: agentId })
    await expectRefused(
      ['POST', `/api/workspaces/${workspaceId}/agents/`, { id: agentId, name: 'other' }],
      'already_exists',
      { message: 'The agent ID is already used.' },
    )
  })

  test('a client-made token has the same fields beside its grant, or is rejected', async () => {
    const granted = { label: unique(), expires_at: new Date(Date.now() + 9 * DAY_MS).toISOString() }
    const token = await clientMade(project, mint(), granted)
    const same = {
      ...{ label: granted.label, environment: 'development', capabilities: ['use', 'read'] },
      expires_in_days: 9,
    }
    const other = {
      ...{ label: 'another', environment: 'production', capabilities: ['use'] },
      expires_in_days: null,
    }
    for (const [field, value] of Object.entries(other))
      await expectRefused(
        ['POST', workloadPath(), { ...same, [field]: value, token }],
        'link_refused',
        refusal(field, 'differs from the grant: omit it'),
      )
    const body = { ...same, token }
    const answer = await app.call('POST', workloadPath(), { token: project.owner.token, body })
    expect(answer.status).toBe(201)
  })

  test('a client-made token is rejected without grant, binding or statement', async () => {
    const token = await clientMade(project, mint(), { label: unique() })
    const bare = { label: unique(), environment: 'development' }
    const post = (changed: object) =>
      [
        'POST',
        workloadPath(),
        { ...bare, label: undefined, token: { ...token, ...changed } },
      ] as const
    const { grant: _, ...without } = token
    await expectRefused(
      ['POST', workloadPath(), { ...bare, token: without }],
      'link_required',
      missing('token.grant'),
    )
    await expectRefused(post({ binding: undefined }), 'link_required', missing('token.binding'))
    const [first] = token.envelopes
    for (const field of ['statement', 'signature']) {
      const envelopes = [{ ...first, [field]: undefined }]
      const path = 'token.envelopes.0.statement'
      await expectRefused(post({ envelopes }), 'link_required', missing(path))
    }
  })

  test('a client-made token is rejected with a grant of another token, holder, time or person', async () => {
    const made = mint()
    const stranger = await signedAccount(app)
    const send = async (granted: Granted, why: string, signing = {}) => {
      const label = unique()
      const token = await clientMade(project, made, { label, ...granted }, signing)
      await expectRefused(
        ['POST', workloadPath(), { token }],
        'link_refused',
        refusal('token.grant', why),
      )
    }
    const mismatch = 'the grant is refused: it is about something else'
    const holder = 'it is for another agent, project or kind of token'
    const impossible = 'label, environment or time is invalid'
    await send({ token_id: mint().id }, mismatch)
    await send({ public_key: inBase64(mint().publicKey) }, mismatch)
    await send({ kind: 'agent', agent_id: Bun.randomUUIDv7() }, holder)
    await send({ project_id: Bun.randomUUIDv7() }, holder)
    await send({ label: 'two\nlines' }, impossible)
    await send({ environment: 'No Name' }, impossible)
    await send({ expires_at: '2999-01-01T00:00:00.000Z' }, impossible)
    const past = new Date(Date.now() - 1000).toISOString()
    await send({ expires_at: past }, 'the grant has already ended')
    await send({}, 'the grant is refused: its signer is not a member', {
      signer: stranger,
    })
    const cut =
      'the grant is refused: it refers to another chain, or to links that are missing here'
    await send({}, cut, { head: 'A'.repeat(43) })
    const token = await clientMade(project, made, { label: unique() })
    const envelopes = [await envelopeOf(project, mint())]
    await expectRefused(
      ['POST', workloadPath(), { token: { ...token, envelopes } }],
      'link_refused',
      refusal('token.envelopes.0', 'the envelope is refused: it is about something else'),
    )
  })

  test('a client-made token has an ID that shows whether its workspace is signed', async () => {
    const token = await clientMade(project, mint(), { label: unique() })
    await expectRefused(
      ['POST', workloadPath(), { token: { ...token, id: Bun.randomUUIDv7() } }],
      'validation_error',
      refusal('token.id', 'must be a UUID of version 8: the workspace is signed'),
    )
    const path = `/api/projects/${plain.projectId}/workload-tokens/`
    const { sent } = clientMadeToken('wkl')
    const body = { label: 'ci', environment: 'development', token: { ...sent, id: mint().id } }
    expectFailure(
      await app.call('POST', path, { token: plain.owner.token, body }),
      'validation_error',
      refusal('token.id', 'must not be a UUID of version 8: the workspace is not signed'),
    )
  })
})

describe('a server-made token', () => {
  /** With the secret in its text. */
  async function order() {
    const body = { label: unique(), environment: 'development', expires_in_days: 7 }
    const { api } = project.owner
    const issued = await api.call(issueWorkloadToken, { params: inProject(), body })
    const parsed = parseToken(issued.token ?? '')
    if (!parsed) throw new Error('no token was issued')
    const publicKey = new Uint8Array(Buffer.from(issued.public_key, 'base64'))
    const token = { id: parsed.id, secret: new Uint8Array(parsed.secret), publicKey }
    const granted = { label: body.label, expires_at: issued.expires_at }
    return { token, granted }
  }

  test('a server-made token has an ID of version 8, and a grant once an administrator signs it', async () => {
    const { token, granted } = await order()
    expect(isSignedId(token.id)).toBe(true)
    expect(await listed(token.id)).toMatchObject({ grant: null, provisioned: [] })
    const grant = await grantOf(project, token, granted)
    const envelopes = [await envelopeOf(project, token)]
    await expectRefused(['PUT', `${workloadPath()}${token.id}/envelopes/`, envelopes], 'conflict', {
      message: 'The token has no grant yet. Add the grant before envelopes.',
    })
    await expectRefused(
      ['PUT', grantPath(token.id), { grant, envelopes }],
      'link_required',
      missing('binding'),
    )
    const body = { grant, envelopes, binding: await bindingOf(project, token) }
    const provisioned = await project.owner.api.call(grantWorkloadToken, {
      params: ofToken(token.id),
      body,
    })
    expect(provisioned).toMatchObject([{ environment: 'development', epoch: 1 }])
    expect(await expectHolds(token)).toMatchObject(granted)
    expect((await listed(token.id))?.grant).toEqual(grant)
  })

  test('a server-made token gets only the ordered grant, first or later', async () => {
    const { token, granted } = await order()
    const binding = await bindingOf(project, token)
    const others: Granted[] = [
      { label: 'another' },
      { capabilities: ['use'] },
      { environment: null, kind: 'agent', agent_id: Bun.randomUUIDv7() },
      { environment: 'production' },
      { expires_at: null },
    ]
    const refuseOthers = async () => {
      for (const other of others) {
        const grant = await grantOf(project, token, { ...granted, ...other })
        const why = 'it differs from the previous grant: create a new token instead'
        const call = ['PUT', grantPath(token.id), { grant, binding }] as const
        await expectRefused(call, 'link_refused', refusal('grant', why))
      }
    }
    await refuseOthers()
    const { api } = project.owner
    const again = async (more: object = {}) => {
      const grant = await grantOf(project, token, granted)
      const params = ofToken(token.id)
      await api.call(grantWorkloadToken, { params, body: { grant, ...more } })
    }
    await again({ binding })
    await refuseOthers()
    await again()
    await expectHolds(token)
  })
})

test('a grant that is signed again states the content of the previous grant, whatever the row contains', async () => {
  const token = await issue()
  const { label } = token
  const { sql } = app.connection
  const put = (stored: string) => sql`update tokens set label = ${stored} where id = ${token.id}`
  const grants = async (granted: Granted) => ({ grant: await grantOf(project, token, granted) })
  await put('another')
  const why = 'it differs from the previous grant: create a new token instead'
  for (const said of ['another', label]) {
    const body = await grants({ label: said })
    const call = ['PUT', grantPath(token.id), body] as const
    await expectRefused(call, 'link_refused', refusal('grant', why))
  }
  await put(label)
  const params = ofToken(token.id)
  await project.owner.api.call(grantWorkloadToken, { params, body: await grants({ label }) })
  expect(await expectHolds(token)).toMatchObject({ label })
})

describe('envelopes', () => {
  test('envelopes have their statements, which cover the stored bytes', async () => {
    const { api } = project.owner
    const agent = await api.call(registerAgent, {
      params: { workspace_id: project.workspaceId },
      body: { name: unique() },
    })
    const params = {
      ...{ workspace_id: project.workspaceId, registration_id: agent.agent.id },
      token_id: agent.token_id,
    }
    const publicKey = new Uint8Array(Buffer.from(agent.public_key, 'base64'))
    const token = { id: agent.token_id, publicKey }
    const [stored] = await api.call(listAgentTokens, { params })
    const grant = await grantOf(project, token, {
      ...{ kind: 'agent', agent_id: agent.agent.id, label: 'default', capabilities: ['use'] },
      ...{ project_id: null, environment: null, expires_at: stored?.expires_at ?? null },
    })
    const secret = new Uint8Array(parseToken(agent.token ?? '')?.secret ?? [])
    const binding = await bindingOf(project, { ...token, secret })
    await api.call(grantAgentToken, { params, body: { grant, binding } })
    const entry = await envelopeOf(project, token, 'production')
    const path = `/api/workspaces/${project.workspaceId}/agents/${agent.agent.id}/tokens/${token.id}/envelopes/`
    const { statement: _, ...without } = entry
    await expectRefused(['PUT', path, [without]], 'link_required', missing('0.statement'))
    const swapped = { ...entry, envelope: (await envelopeOf(project, token)).envelope }
    await expectRefused(
      ['PUT', path, [swapped]],
      'link_refused',
      refusal('0', 'the envelope is refused: it is about something else'),
    )
    expect(
      (await app.call('PUT', path, { token: project.owner.token, body: [entry] })).status,
    ).toBe(200)
    const [row] = await app.connection.db
      .select()
      .from(tokenEnvelopes)
      .where(eq(tokenEnvelopes.tokenId, token.id))
    const signed = { statement: row?.statement ?? '', signature: inBase64(row?.signature) }
    const place = { projectId: project.projectId, environment: 'production', epoch: 1 }
    const envelope = new Uint8Array(Buffer.from(entry.envelope, 'base64'))
    await verifyEnvelope(await project.chain(), signed, { tokenId: token.id, ...place, envelope })
  })

  test('envelopes are replaced with their statements', async () => {
    const token = await issue()
    const again = await envelopeOf(project, token)
    await project.owner.api.call(provisionWorkloadToken, {
      params: ofToken(token.id),
      body: [again],
    })
    const [row] = await app.connection.db
      .select()
      .from(tokenEnvelopes)
      .where(eq(tokenEnvelopes.tokenId, token.id))
    expect(row?.statement).toBe(again.statement)
  })
})

describe('a plain workspace', () => {
  test('a plain workspace accepts nothing that is signed', async () => {
    const { sent } = clientMadeToken('wkl')
    const path = `/api/projects/${plain.projectId}/workload-tokens/`
    const { token } = plain.owner
    const order = { label: 'ci', environment: 'development' }
    const grant: SignedText = await grantOf(project, mint())
    const plainly = 'this workspace is not signed: omit it'
    expectFailure(
      await app.call('POST', path, { token, body: { ...order, token: { ...sent, grant } } }),
      'link_refused',
      refusal('token.grant', plainly),
    )
    const body = { ...order, token: sent }
    expect((await app.call('POST', path, { token, body })).status).toBe(201)
    expectFailure(
      await app.call('PUT', `${path}${sent.id}/grant/`, { token, body: { grant } }),
      'link_refused',
      refusal('grant', plainly),
    )
    const listing = await app.call('GET', path, { token })
    expect(JSON.stringify(listing.body)).not.toContain('grant')
    const [row] = await app.connection.db.select().from(tokens).where(eq(tokens.id, sent.id))
    expect(row?.label).toBe('ci')
  })
})
