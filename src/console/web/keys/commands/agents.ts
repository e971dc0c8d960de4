/**
 * Agents, their tokens, and those of workloads. A token is made here and stays here until somebody asks to see it, and
 * as long as the keys are held: the server has never seen it.
 */
import { endToken, removeAgent } from '../../../../client/actions/end_tokens.ts'
import { giveKeys, lackingKeys } from '../../../../client/actions/grant.ts'
import {
  issueToAgent,
  issueToWorkload,
  registerWithToken,
} from '../../../../client/actions/issue_token.ts'
import { readTokens } from '../../../../client/actions/read_tokens.ts'
import { grantTo, type TokenOrder, type TokenOwner } from '../../../../client/agents/tokens.ts'
import type { Place } from '../../../../client/signed/statements.ts'
import type { WorkspacePlace } from '../../../../client/workspace.ts'
import type { TokenLimits } from '../../../../core/token_limits.ts'
import { getAgent, listAgents } from '../../../../features/agents/contract.ts'
import { getInstance } from '../../../../features/instance/contract.ts'
import { Refused } from '../failure.ts'
import type { HeldKeys } from '../held.ts'
import { placeIn } from '../places.ts'
import {
  activeToken,
  ending,
  environmentNames,
  placesIn,
  projectNamesOf,
  type Token,
  type TokensOwner,
} from '../tokens.ts'

export const agentsCommands = {
  list,
  all,
  environments,
  tokens,
  issue,
  addresses,
  newToken,
  forgetToken,
  revoke,
  remove,
  lacking,
  give,
}

type Of = { workspaceId: string }

/** Tokens that were made and not put away yet, by the keys that were held then. */
const made = new WeakMap<object, Map<string, string>>()

/** Every agent, with the name of its project; null for one of the whole workspace. */
async function list(held: HeldKeys, { workspaceId }: Of) {
  const [agents, names] = await Promise.all([
    held.api.list(listAgents, { params: { workspace_id: workspaceId } }),
    projectNamesOf(held, workspaceId),
  ])
  return agents.map((agent) => ({
    id: agent.id,
    name: agent.name,
    projectId: agent.project_id,
    project: agent.project_id && (names.get(agent.project_id) ?? null),
    lastUsedAt: agent.last_used_at,
  }))
}

function environments(held: HeldKeys, { projectId }: { projectId: string }) {
  return environmentNames(held, projectId)
}

async function tokens(held: HeldKeys, owner: TokensOwner) {
  const [place, names] = await Promise.all([
    placeIn(held, owner.workspaceId),
    projectNamesOf(held, owner.workspaceId),
  ])
  return namedTokens(place, owner, names)
}

/** Every agent, and the containers and CI jobs of every project, with their tokens. */
async function all(held: HeldKeys, { workspaceId }: Of) {
  const [place, names, agents] = await Promise.all([
    placeIn(held, workspaceId),
    projectNamesOf(held, workspaceId),
    list(held, { workspaceId }),
  ])
  const [ofAgents, ofProjects] = await Promise.all([
    Promise.all(
      agents.map(async (agent) => ({
        ...agent,
        tokens: await namedTokens(place, { agentId: agent.id }, names),
      })),
    ),
    Promise.all(
      [...names].map(async ([projectId, project]) => ({
        projectId,
        project,
        tokens: await namedTokens(place, { projectId }, names),
      })),
    ),
  ])
  return { agents: ofAgents, projects: ofProjects }
}

async function namedTokens(
  place: WorkspacePlace,
  owner: TokenOwner,
  names: ReadonlyMap<string, string>,
) {
  const read = await readTokens(place, owner)
  return read.map(({ provisioned, projectId, ...token }) => ({
    ...token,
    /** Of which it is by what was signed; undefined where the row is believed. */
    project: projectId && (names.get(projectId) ?? projectId),
    keys: provisioned.map(({ project_id, environment, epoch }) => ({
      project: names.get(project_id) ?? null,
      environment,
      isOfNow: epoch === place.workspace.epoch,
    })),
  }))
}

/** The owner of a new token; null means every project or environment. */
type Holder =
  | { kind: 'agent'; name: string; projectId: string | null; environment: string | null }
  | { kind: 'further'; agentId: string; projectId: string | null; environment: string | null }
  | { kind: 'workload'; label: string; projectId: string; environment: string }

type Order = Of & {
  holder: Holder
  capabilities: NonNullable<TokenOrder['capabilities']>
  /** Null never expires. */
  days: number | null
  /** The label of a further token. */
  label?: string
  limits?: TokenLimits
}

/** Returns the new token's id; `newToken` returns its text. @throws ApiError, UntrustedChain */
async function issue(held: HeldKeys, order: Order) {
  const { workspaceId, holder, capabilities, days, label, limits } = order
  const issuing = await placeIn(held, workspaceId)
  const terms = {
    capabilities,
    expires_in_days: days,
    ...(label === undefined ? {} : { label }),
    ...(limits === undefined ? {} : { limits }),
  }
  const { id, text } = await issueTo(held, issuing, holder, terms)
  const reader = held.reader()
  made.set(reader, (made.get(reader) ?? new Map()).set(id, text))
  return { id }
}

async function issueTo(held: HeldKeys, issuing: WorkspacePlace, holder: Holder, order: TokenOrder) {
  const { environment, projectId } = holder
  if (holder.kind === 'workload') {
    const { label } = holder
    const place = { projectId: holder.projectId, environment: holder.environment }
    return issueToWorkload(issuing, place, { ...order, label })
  }
  const places = await placesIn(held, issuing.workspace.id, { projectId, environment })
  const terms = { environment, order, places }
  if (holder.kind === 'agent') return registerWithToken(issuing, holder, terms)
  return issueToAgent(issuing, { id: holder.agentId, project_id: projectId }, terms)
}

/** They go into files that people copy: nothing else than an address may stand in one. */
const ADDRESS = /^https?:\/\/[\w.:\-[\]]+(\/[\w.~%/-]*)?$/

/** Where programs find the two listeners, as the operator has set it. */
async function addresses({ api }: HeldKeys, _: null) {
  const {
    addresses: { server, resolver },
  } = await api.call(getInstance, {})
  const isUnset = (url: string) => URL.parse(url)?.hostname === 'localhost'
  for (const url of [server, resolver]) if (!ADDRESS.test(url)) throw new Refused('no_address')
  return {
    // By `cloakroom console` the page comes from elsewhere than the server.
    server: isUnset(server) ? location.origin : server,
    resolver,
    isUnknown: isUnset(resolver) && location.hostname !== 'localhost',
  }
}

/** The text of a token that was just made, for somebody to take along. @throws Refused `not_found` */
async function newToken(held: HeldKeys, { id }: { id: string }) {
  const text = made.get(held.reader())?.get(id)
  if (text === undefined) throw new Refused('not_found')
  return text
}

/** The person has it, or does not want it: nobody sees it any more. */
async function forgetToken(held: HeldKeys, { id }: { id: string }) {
  made.get(held.reader())?.delete(id)
}

function revoke(held: HeldKeys, { tokenId, ...owner }: TokensOwner & { tokenId: string }) {
  return ending(held, owner.workspaceId, (by) => endToken(by, owner, tokenId))
}

function remove(held: HeldKeys, { workspaceId, agentId }: Of & { agentId: string }) {
  return ending(held, workspaceId, (by) => removeAgent(by, agentId))
}

/** Environments of a token's scope whose key it has not: a rekey left it behind, or they were made after it. */
async function lacking(held: HeldKeys, { tokenId, ...owner }: TokensOwner & { tokenId: string }) {
  const place = await placeIn(held, owner.workspaceId)
  const token = await activeToken(place, owner, tokenId)
  const places = await placesIn(held, owner.workspaceId, await scopeOf(place, owner, token))
  const projects = await projectNamesOf(held, owner.workspaceId)
  return lackingKeys(place.workspace, token, places).map((place) => ({
    ...place,
    project: projects.get(place.projectId) ?? place.projectId,
  }))
}

/** By the token's grant; in a plain workspace by its row. */
async function scopeOf({ api, workspace }: WorkspacePlace, owner: TokensOwner, token: Token) {
  const { environment } = token
  const chain = await workspace.chain()
  if (chain) {
    const granted = await grantTo(chain, token, owner)
    return { projectId: granted.project_id, environment: granted.environment }
  }
  if ('projectId' in owner) return { projectId: owner.projectId, environment }
  const params = { workspace_id: workspace.id, registration_id: owner.agentId }
  const { project_id } = await api.call(getAgent, { params })
  return { projectId: project_id, environment }
}

/** Gives a token the keys that `lacking` listed. @throws UntrustedChain where the grant does not hold */
async function give(
  held: HeldKeys,
  { tokenId, places, ...owner }: TokensOwner & { tokenId: string; places: Place[] },
) {
  const place = await placeIn(held, owner.workspaceId)
  await giveKeys(place, owner, await activeToken(place, owner, tokenId), places)
}
