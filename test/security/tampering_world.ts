/**
 * A running installation with a history: a signed workspace with a member, agents and tokens, a second one and a
 * plain one beside it; and all reads of the first one by its callers and clients.
 */

import { standingOf } from '../../src/client/agents/standing.ts'
import { fetchEnvironment } from '../../src/client/delivery/delivery.ts'
import { openApi } from '../../src/client/http/api.ts'
import { Chains } from '../../src/client/signed/chain.ts'
import { manifestRows, verifyStored } from '../../src/client/signed/manifests.ts'
import { openSecret, openWorkspace } from '../../src/client/vault.ts'
import { formatToken } from '../../src/core/crypto/token.ts'
import { getPublicKey } from '../../src/features/accounts/contract.ts'
import {
  grantAgentToken,
  issueWorkloadToken,
  listAgentTokens,
  listWorkloadTokens,
  registerAgent,
  revokeAgentToken,
} from '../../src/features/agents/contract.ts'
import { addToAllowlist, removeFromAllowlist } from '../../src/features/allowlist/contract.ts'
import { listLinks } from '../../src/features/links/contract.ts'
import { createProject } from '../../src/features/projects/contract.ts'
import { listSecrets, upsertSecrets } from '../../src/features/secrets/contract.ts'
import { deliverEnvironment } from '../../src/features/workloads/contract.ts'
import {
  acceptInvitation,
  changeMemberRole,
  listWorkspacesEndpoint,
} from '../../src/features/workspaces/contract.ts'
import { Refusal, requireKeyProof, type SignedText } from '../../src/sigchain/index.ts'
import { openMemory } from '../client/signed_place.ts'
import { API, createAgentWithToken, resolveAs, type Stage } from '../support/agent.ts'
import { marked } from '../support/canary.ts'
import { personOf } from '../support/signed.ts'
import {
  bindingOf,
  clientMade,
  envelopeOf,
  type Granted,
  grantOf,
  manifestOf,
  mint,
  type SignedProject,
  signedProject,
} from '../support/statements.ts'

/** A host that was allowed once, and one that never was. */
export const REMOVED = 'removed.upstream.example'
export const UNLISTED_HOST = 'strange.upstream.example'

const environment = 'development'
const VALUES = 'the values of an environment'
const DAY_MS = 86_400_000
const LATER = new Date(Date.now() + 300 * DAY_MS).toISOString()

/** Reads as someone in the world and returns the result as text. Throws if the read is refused. */
export type Probe = () => Promise<string>
export type World = Awaited<ReturnType<typeof openWorld>>

/** A signed workspace before its history. */
async function openWorkspaceOf(stage: Stage) {
  const project = await signedProject(stage.app)
  const { workspaceId, projectId, owner } = project
  const helper = await project.join('admin')
  const params = { workspace_id: workspaceId }
  const revisions = new Map<string, number>()
  const stored = new Map<string, Record<string, string>>()

  const store = async (values: Record<string, string>, of = environment) => {
    const sealed = Object.fromEntries(
      Object.entries(values).map(([key, value]) => [key, project.seal(key, value, of)]),
    )
    const all = { ...stored.get(of), ...sealed }
    const revision = (revisions.get(of) ?? 0) + 1
    const manifest = await manifestOf(project, all, revision, { environment: of })
    const body = { project_id: projectId, environment: of, secrets: sealed, manifest }
    await owner.api.call(upsertSecrets, { body })
    revisions.set(of, revision)
    stored.set(of, all)
  }
  const allow = async (...domains: string[]) => {
    const link = await project.link('allowlist.changed', { add: domains, remove: [] })
    await owner.api.call(addToAllowlist, { params, body: { domains, link } })
  }
  const disallow = async (domain: string) => {
    const link = await project.link('allowlist.changed', { add: [], remove: [domain] })
    await owner.api.call(removeFromAllowlist, { params: { ...params, domain }, body: { link } })
  }
  const createAgent = async (label: string) => {
    const [token, agentId] = [mint(), Bun.randomUUIDv7()]
    const granted: Granted = {
      ...{ kind: 'agent', agent_id: agentId, label, capabilities: ['use'] },
      ...{ project_id: null, environment: null, expires_at: null },
    }
    const made = await clientMade(project, token, granted)
    const body = { id: agentId, name: label, token: made }
    await owner.api.call(registerAgent, { params, body })
    const at = { ...params, registration_id: agentId, token_id: token.id }
    return { ...token, agentId, granted, at, text: formatToken('agt', token.id, token.secret) }
  }
  const issue = async () => {
    const token = mint()
    const made = await clientMade(project, token, { expires_at: LATER })
    const at = { project_id: projectId }
    await owner.api.call(issueWorkloadToken, { params: at, body: { token: made } })
    return { ...token, text: formatToken('wkl', token.id, token.secret) }
  }
  const other = { name: 'other', workspace_id: workspaceId }
  const { id: otherProject } = await owner.api.call(createProject, { body: other })
  await store({ KEY: marked('first_'), OTHER: marked('other_') })
  await store({ KEY: marked('staged_') }, 'staging')
  await allow(stage.authorityOf(API), stage.authorityOf(REMOVED))
  const agent = await createAgent('agent')
  const ended = await createAgent('ended')
  const workload = await issue()
  return { ...project, otherProject, helper, store, disallow, agent, ended, workload }
}

type SignedHistory = Awaited<ReturnType<typeof openWorkspaceOf>>

/** After this, no older state may be accepted again. */
async function goOn(stage: Stage, workspace: SignedHistory): Promise<void> {
  const { workspaceId, owner, helper, agent, ended } = workspace
  const role = 'member'
  const demotion = await workspace.link('members.put', { members: [{ ...personOf(helper), role }] })
  await owner.api.call(changeMemberRole, {
    params: { workspace_id: workspaceId, member: helper.userId },
    body: { role, link: demotion },
  })
  await workspace.disallow(stage.authorityOf(REMOVED))
  await owner.api.call(grantAgentToken, {
    params: agent.at,
    body: {
      grant: await grantOf(workspace, agent, agent.granted),
      binding: await bindingOf(workspace, agent),
      envelopes: [await envelopeOf(workspace, agent)],
    },
  })
  await workspace.store({ KEY: marked('second_') })
  const revoked = await workspace.link('tokens.revoked', { token_ids: [ended.id] })
  await owner.api.call(revokeAgentToken, { params: ended.at, body: { link: revoked } })
}

export async function openWorld(stage: Stage, keepOlder: () => Promise<void>) {
  const target = await openWorkspaceOf(stage)
  const neighbour = await openWorkspaceOf(stage)
  const untouched = await openWorkspaceOf(stage)
  await untouched.invite(target.helper, 'member')
  const at = { workspace_id: untouched.workspaceId }
  await target.helper.api.call(acceptInvitation, { params: at })
  const plain = await createAgentWithToken(stage, { secrets: { KEY: marked('of_plain_') } })
  await keepOlder()
  await goOn(stage, target)
  const probes: Record<string, Probe> = {
    'a call': () => called(stage, target.agent.text),
    'a call to a host that was removed': () => called(stage, target.agent.text, REMOVED),
    'a call to a host that was never allowed': () =>
      called(stage, target.agent.text, UNLISTED_HOST),
    'a call with a token that was revoked': () => called(stage, target.ended.text),
    ...deliveriesOf(stage, target.workload.text),
    ...readingsOf(target),
    'a change by who is no administrator': () => changed(target),
  }
  const others: Record<string, Probe> = {
    'another signed workspace': () => called(stage, untouched.agent.text),
    'a plain workspace': () => called(stage, plain.token),
    "another workspace's values, as its member reads them": readingsOf(untouched)[VALUES],
  }
  const reading = readingsOf({ ...untouched, helper: target.helper })
  const elsewhere: Record<string, Probe> = {
    'values of another workspace of the same person': reading[VALUES],
  }
  return { target, neighbour, plain, probes, others, elsewhere }
}

let calls = 0

/**
 * The credential in the upstream's request.
 * @throws Refused, and Error if a request was sent although it was rejected
 */
async function called(stage: Stage, token: string, host = API): Promise<string> {
  calls += 1
  const { upstream } = stage
  const path = `/call/${calls}`
  const { status, body } = await resolveAs(stage.app.resolver, token, {
    target_url: stage.url(path, host),
    headers: { authorization: 'Bearer SVC_SECRET_KEY' },
  })
  const sent = upstream.received.filter((request) => request.path === path)
  upstream.received = upstream.received.filter((request) => request.path !== path)
  if (status === 200) return JSON.stringify(sent.map((one) => one.header('authorization')))
  if (sent.length > 0) throw new Error('a call was refused, and sent')
  throw new Refused(status, body)
}

/** The server rejected a request. */
export class Refused extends Error {
  readonly status: number

  constructor(status: number, body: unknown) {
    super(`${status} ${JSON.stringify(body)}`)
    this.status = status
  }
}

/** The server did not deliver a value. */
export class Withheld extends Error {}

function deliveriesOf({ app }: Stage, token: string): Record<string, Probe> {
  const api = openApi(app.controlPlane, () => token)
  return {
    'a delivery': async () => JSON.stringify(await api.call(deliverEnvironment, { body: {} })),
    'a sealed delivery': async () => {
      const fetched = await fetchEnvironment(app.controlPlane, token)
      const opened = [...(await fetched.open())].map(([name, { value }]) => [name, value])
      // A server can withhold a value, by a policy or by omitting it.
      if (!['KEY', 'OTHER'].every((key) => opened.some(([name]) => name === key)))
        throw new Withheld()
      return JSON.stringify(opened.sort())
    },
  }
}

async function changed({ workspaceId, helper }: SignedHistory): Promise<string> {
  const params = { workspace_id: workspaceId }
  const body = { domains: [UNLISTED_HOST] }
  return JSON.stringify(await helper.api.call(addToAllowlist, { params, body }))
}

/** Reads of members' clients, with the state that these clients had. */
function readingsOf(target: SignedProject & SignedHistory) {
  const { owner, helper, workspaceId, projectId, agent, workload } = target
  const params = { workspace_id: workspaceId }
  const known = openMemory()
  const place = { workspaceId, projectId, environment }
  const chainsOf = ({ api }: typeof owner) =>
    new Chains((_, after) => api.call(listLinks, { params, query: { after } }), known, {
      met: () => {},
      rekeyed: () => {},
    })
  const named = { id: workspaceId, name: 'it' }
  const opened = async () => {
    const all = await helper.api.list(listWorkspacesEndpoint, {})
    const entry = all.find(({ id }) => id === workspaceId)
    const open = entry && (await openWorkspace(entry, helper.privateKey, helper.publicKey))
    if (!open) throw new Refusal('form', 'the workspace does not open', 'it')
    await chainsOf(helper).requireKey(open)
    return open
  }
  type Listed = { id: string; public_key: string; grant?: SignedText | null | undefined }
  const recipient = async (tokens: readonly Listed[], { id }: { id: string }) => {
    const token = tokens.find((each) => each.id === id)
    if (!token) throw new Refusal('form', 'it is not listed', 'the token')
    const standing = await standingOf(await chainsOf(owner).of(named), token)
    if (standing.is !== 'granted') throw new Refusal('form', standing.is, 'the grant')
    return standing.grant.public_key
  }
  return {
    'members, allowlist and epoch': async () => {
      const { members, allowlist, epoch } = await chainsOf(helper).of(named)
      return JSON.stringify([[...members.values()], [...allowlist], epoch])
    },
    'the key of the workspace': async () => Buffer.from((await opened()).key).toString('hex'),
    [VALUES]: async () => {
      const open = await opened()
      const order = { params: { project_id: projectId }, query: { environment } }
      const query = { ...order.query, include: 'value' as const }
      const { data, beside } = await helper.api.whole(listSecrets, { ...order, query })
      const chain = await chainsOf(helper).of(named)
      const seen = known.manifestOf(place)
      const rows = await manifestRows(data.map(({ key, value }) => ({ key, value })))
      const stored = await verifyStored(chain, { ...place, seen }, rows, beside.manifest)
      known.rememberManifest(place, stored)
      const values = data.map(({ key, value }) => {
        const revealed = openSecret(open, { ...place, key }, null, value ?? '')?.reveal()
        return [key, Buffer.from(revealed ?? []).toString()]
      })
      return JSON.stringify(values)
    },
    'the keys of a person': async () => {
      const { email } = helper
      const keys = await owner.api.call(getPublicKey, { params: { email } })
      const { signing_key, public_key, key_proof } = keys
      if (signing_key === null) throw new Refusal('form', 'there is no signing key', 'the proof')
      await requireKeyProof({ signing_key, public_key }, email, key_proof ?? '')
      return `${signing_key} ${public_key}`
    },
    'the key of a token of an agent': async () => {
      const at = { ...params, registration_id: agent.agentId }
      return recipient(await owner.api.list(listAgentTokens, { params: at }), agent)
    },
    'the key of a token of a workload': async () => {
      const at = { project_id: projectId }
      return recipient(await owner.api.list(listWorkloadTokens, { params: at }), workload)
    },
  }
}
