// tier: quick
/**
 * One attacker writes to the database of a running installation, and one has a session of the owner's. Each tries to
 * have a key given to a stranger, a credential sent elsewhere, and their own token accepted.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { renewWorkspaceKey } from '../../src/client/actions/rekey.ts'
import { Chains } from '../../src/client/signed/chain.ts'
import { type OpenWorkspace, toSignedWorkspace } from '../../src/client/workspace.ts'
import { fromBase64 } from '../../src/core/crypto/encoding.ts'
import { formatToken } from '../../src/core/crypto/token.ts'
import { type FaultCode, statusOf } from '../../src/core/fault.ts'
import { agents, tokenGrants } from '../../src/database/schema/index.ts'
import { issueWorkloadToken } from '../../src/features/agents/contract.ts'
import { addToAllowlist } from '../../src/features/allowlist/contract.ts'
import { listLinks } from '../../src/features/links/contract.ts'
import { upsertSecrets } from '../../src/features/secrets/contract.ts'
import { identityOf } from '../../src/sigchain/index.ts'
import { openMemory } from '../client/signed_place.ts'
import { API, resolveAs, type Stage, sharedStage } from '../support/agent.ts'
import { marked } from '../support/canary.ts'
import { envelopeFor } from '../support/people.ts'
import {
  personOf,
  type Said,
  type SignedPerson,
  signedAccount,
  signedBy,
} from '../support/signed.ts'
import { insertToken } from '../support/signed_rows.ts'
import {
  bindingOf,
  clientMade,
  type Granted,
  grantOf,
  type Minted,
  manifestOf,
  mint,
  type SignedProject,
  signedProject,
} from '../support/statements.ts'

const STRANGER_HOST = 'strange.upstream.example'
const VALUE = marked('sk_live_')

let stage: Stage
let project: SignedProject
/** The session is the owner's, the keys are not. */
let thief: SignedPerson
let granted: Minted & { text: string }

const inWorkspace = () => ({ workspace_id: project.workspaceId })
const inProject = () => ({ project_id: project.projectId })
const ofWorkspace = (path: string) => `/api/workspaces/${project.workspaceId}/${path}`
const sql = () => stage.app.connection.sql

beforeAll(async () => {
  stage = await sharedStage({ names: [STRANGER_HOST] })
  project = await signedProject(stage.app)
  const { api, ...owner } = project.owner
  thief = { api, ...owner, identity: await identityOf(new Uint8Array(randomBytes(32))) }
  const secrets = { KEY: project.seal('KEY', VALUE) }
  const manifest = await manifestOf(project, secrets, 1)
  const body = { ...inProject(), environment: 'development', secrets, manifest }
  await api.call(upsertSecrets, { body })
  const domains = [stage.authorityOf(API)]
  const link = await project.link('allowlist.changed', { add: domains, remove: [] })
  await api.call(addToAllowlist, { params: inWorkspace(), body: { domains, link } })
  const minted = mint()
  const token = await clientMade(project, minted)
  await api.call(issueWorkloadToken, { params: inProject(), body: { token } })
  granted = { ...minted, text: formatToken('wkl', minted.id, minted.secret) }
}, 60_000)
afterAll(() => stage.stop())

const call = (token: string, host = API) =>
  resolveAs(stage.app.resolver, token, {
    target_url: stage.url('/charges', host),
    headers: { authorization: 'Bearer SVC_SECRET_KEY' },
    ...inProject(),
    environment: 'development',
  })

/** The token that the owner granted stays usable, at the host that the owner allowed. */
async function expectSent(): Promise<void> {
  expect(await call(granted.text)).toMatchObject({ status: 200, body: { status_code: 200 } })
  expect(stage.upstream.received.at(-1)?.header('authorization')).toBe(`Bearer ${VALUE}`)
}

async function expectNotSent(code: FaultCode, token: string, host?: string): Promise<void> {
  const { bytes } = stage.upstream
  const refusal = { status: statusOf(code), body: { error_code: code } }
  expect(await call(token, host)).toMatchObject(refusal)
  expect(stage.upstream.bytes).toBe(bytes)
}

/** Everything that the thief posts is signed with the thief's keys. */
async function expectNotTaken(path: string, body: object): Promise<void> {
  const answer = await stage.app.call('POST', path, { token: thief.token, body })
  expect(answer).toMatchObject({ status: 422, body: { error_code: 'link_refused' } })
  expect(JSON.stringify(answer.body)).toContain('its signature is invalid')
}
const signed = async (said: Said) => signedBy(thief, await project.chain(), said)

/** The workspace as the owner has it open. */
function openedByOwner(): OpenWorkspace {
  const { workspaceId: id, workspaceKey: key, owner } = project
  const readLinks = (workspace_id: string, after: number) =>
    owner.api.call(listLinks, { params: { workspace_id }, query: { after } })
  const chains = new Chains(readLinks, openMemory(), { met: () => {}, rekeyed: () => {} })
  const workspace = { id, name: 'acme', epoch: 1, key }
  return toSignedWorkspace(workspace, { chains, identity: async () => owner.identity })
}

describe('In a signed workspace, the database cannot lie. An attacker who writes to it, or steals a session, cannot make clients or the resolver give a key to a stranger, send a credential to a host that no administrator allowed, or accept a token that no member granted.', () => {
  test('the resolver sends a credential to no host that is only in a row, or that a session added', async () => {
    const domain = stage.authorityOf(STRANGER_HOST)
    const body = { add: [domain], remove: [] }
    const link = await signed({ type: 'allowlist.changed', body })
    await expectNotTaken(ofWorkspace('allowlist/'), { domains: [domain], link })
    await sql()`insert into allowlist_entries (id, workspace_id, domain)
      values (${Bun.randomUUIDv7()}, ${project.workspaceId}, ${domain})`
    await expectNotSent('domain_blocked', granted.text, STRANGER_HOST)
    await expectSent()
  })

  test('the resolver honours no token that is only rows, or that a session made', async () => {
    const made = await clientMade(project, mint(), { label: 'of a thief' }, { signer: thief })
    const path = `/api/projects/${project.projectId}/workload-tokens/`
    await expectNotTaken(path, { token: made })

    const { workspaceId } = project
    const { db } = stage.app.connection
    const agentId = Bun.randomUUIDv7()
    await db.insert(agents).values({ id: agentId, workspaceId, name: 'made up' })
    const row = { agentId, capabilities: ['use' as const] }
    const forged = await insertToken(stage.app, workspaceId, row)
    await expectNotSent('key_not_provisioned', forged.text)
    const holder = { ...forged, publicKey: fromBase64(forged.publicKey) ?? new Uint8Array() }
    const terms: Granted = {
      ...{ kind: 'agent', agent_id: agentId, label: 'default', capabilities: ['use'] },
      ...{ project_id: null, environment: null },
    }
    const grant = await grantOf(project, holder, terms, { signer: thief })
    await db.insert(tokenGrants).values({
      ...{ tokenId: forged.id, workspaceId, statement: grant.statement },
      signature: Buffer.from(grant.signature, 'base64'),
      binding: Buffer.from(await bindingOf(project, holder), 'base64'),
    })
    await sql()`insert into token_envelopes
      select (jsonb_populate_record(e, jsonb_build_object('token_id', ${forged.id}::text))).*
      from token_envelopes e where token_id = ${granted.id}`
    await expectNotSent('unverified_state', forged.text)
    await expectSent()
  })

  test('a client does not give the new key to members that only a row names or a session invited', async () => {
    const stranger = await signedAccount(stage.app, 'stranger')
    const member = { ...personOf(stranger), role: 'admin' as const }
    await expectNotTaken(ofWorkspace('members/'), {
      ...{ email: stranger.email, role: 'admin' },
      encrypted_workspace_key: await envelopeFor(stranger, project),
      link: await signed({ type: 'members.put', body: { members: [member] } }),
    })
    await sql()`insert into memberships (id, workspace_id, user_id, role, status, encrypted_workspace_key)
      select ${Bun.randomUUIDv7()}, workspace_id, ${stranger.userId}, 'admin', 'active',
        encrypted_workspace_key from memberships where workspace_id = ${project.workspaceId}`
    const sealedTo = async (userId: string) => {
      const [row] =
        await sql()`select encode(encrypted_workspace_key, 'hex') as key from memberships
        where workspace_id = ${project.workspaceId} and user_id = ${userId}`
      return row?.key
    }
    const { userId } = project.owner
    const before = [await sealedTo(stranger.userId), await sealedTo(userId)]
    const asked = () => Promise.reject(new Error('the chain says whose keys they are'))
    const { members, tokens } = await renewWorkspaceKey(
      { api: project.owner.api, workspace: openedByOwner() },
      asked,
    )
    expect([members, tokens]).toEqual([1, 1])
    expect(await sealedTo(stranger.userId)).toBe(before[0])
    expect(await sealedTo(userId)).not.toBe(before[1])
    await expectSent()
  })
})
