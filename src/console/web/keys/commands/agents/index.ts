/** Agents, and the tokens of agents and workloads. */
import { endToken, removeAgent } from '../../../../../client/actions/end_tokens.ts'
import { findMissingKeys, giveKeys } from '../../../../../client/actions/grant.ts'
import { readTokens } from '../../../../../client/actions/read_tokens.ts'
import { grantTo, type TokenOwner } from '../../../../../client/agents/tokens.ts'
import type { Place } from '../../../../../client/signed/statements.ts'
import type { WorkspacePlace } from '../../../../../client/workspace.ts'
import { getAgent, listAgents } from '../../../../../features/agents/contract.ts'
import { getInstance } from '../../../../../features/instance/contract.ts'
import { Refused } from '../../failure.ts'
import { placeIn } from '../../places.ts'
import {
  endTokens,
  environmentNames,
  findActiveToken,
  placesIn,
  projectNamesOf,
  type Token,
  type TokensOwner,
} from '../../tokens.ts'
import type { UnlockedSession } from '../../unlocked_session.ts'
import { newTokenCommands } from './new_tokens.ts'

export const agentsCommands = {
  ...newTokenCommands,
  list,
  all: readAll,
  environments,
  tokens,
  addresses,
  revoke,
  remove,
  lacking: listLackingKeys,
  give,
}

type Of = { workspaceId: string }

/** Every agent with its project's name. Null for an agent of the whole workspace. */
async function list(session: UnlockedSession, { workspaceId }: Of) {
  const [agents, names] = await Promise.all([
    session.api.list(listAgents, { params: { workspace_id: workspaceId } }),
    projectNamesOf(session, workspaceId),
  ])
  return agents.map((agent) => ({
    id: agent.id,
    name: agent.name,
    projectId: agent.project_id,
    project: agent.project_id && (names.get(agent.project_id) ?? null),
    lastUsedAt: agent.last_used_at,
  }))
}

function environments(session: UnlockedSession, { projectId }: { projectId: string }) {
  return environmentNames(session, projectId)
}

async function tokens(session: UnlockedSession, owner: TokensOwner) {
  const [place, names] = await Promise.all([
    placeIn(session, owner.workspaceId),
    projectNamesOf(session, owner.workspaceId),
  ])
  return listNamedTokens(place, owner, names)
}

/** Every agent, and the containers and CI jobs of every project, with their tokens. */
async function readAll(session: UnlockedSession, { workspaceId }: Of) {
  const [place, names, agents] = await Promise.all([
    placeIn(session, workspaceId),
    projectNamesOf(session, workspaceId),
    list(session, { workspaceId }),
  ])
  const [ofAgents, ofProjects] = await Promise.all([
    Promise.all(
      agents.map(async (agent) => ({
        ...agent,
        tokens: await listNamedTokens(place, { agentId: agent.id }, names),
      })),
    ),
    Promise.all(
      [...names].map(async ([projectId, project]) => ({
        projectId,
        project,
        tokens: await listNamedTokens(place, { projectId }, names),
      })),
    ),
  ])
  return { agents: ofAgents, projects: ofProjects }
}

async function listNamedTokens(
  place: WorkspacePlace,
  owner: TokenOwner,
  names: ReadonlyMap<string, string>,
) {
  const read = await readTokens(place, owner)
  return read.map(({ provisioned, projectId, ...token }) => ({
    ...token,
    /** The signed project. Undefined if the row is not signed. */
    project: projectId && (names.get(projectId) ?? projectId),
    keys: provisioned.map(({ project_id, environment, epoch }) => ({
      project: names.get(project_id) ?? null,
      environment,
      isCurrent: epoch === place.workspace.epoch,
    })),
  }))
}

/** Users copy addresses into files, so nothing else may be in one. */
const ADDRESS = /^https?:\/\/[\w.:\-[\]]+(\/[\w.~%/-]*)?$/

/** The addresses of the two listeners, as set by the operator. */
async function addresses({ api }: UnlockedSession, _: null) {
  const {
    addresses: { server, resolver },
  } = await api.call(getInstance, {})
  const isUnset = (url: string) => URL.parse(url)?.hostname === 'localhost'
  for (const url of [server, resolver]) if (!ADDRESS.test(url)) throw new Refused('no_address')
  return {
    // The page of `cloakroom console` does not come from the server.
    server: isUnset(server) ? location.origin : server,
    resolver,
    isUnknown: isUnset(resolver) && location.hostname !== 'localhost',
  }
}

function revoke(
  session: UnlockedSession,
  { tokenId, ...owner }: TokensOwner & { tokenId: string },
) {
  return endTokens(session, owner.workspaceId, (by) => endToken(by, owner, tokenId))
}

function remove(session: UnlockedSession, { workspaceId, agentId }: Of & { agentId: string }) {
  return endTokens(session, workspaceId, (by) => removeAgent(by, agentId))
}

/** Environments in a token's scope whose key it lacks, after a rekey or because they are newer than the token. */
async function listLackingKeys(
  session: UnlockedSession,
  { tokenId, ...owner }: TokensOwner & { tokenId: string },
) {
  const place = await placeIn(session, owner.workspaceId)
  const token = await findActiveToken(place, owner, tokenId)
  const places = await placesIn(session, owner.workspaceId, await scopeOf(place, owner, token))
  const projects = await projectNamesOf(session, owner.workspaceId)
  return findMissingKeys(place.workspace, token, places).map((place) => ({
    ...place,
    project: projects.get(place.projectId) ?? place.projectId,
  }))
}

/** The scope in the token's grant, or in its row if the workspace is not signed. */
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

/** Gives a token the keys that `lacking` listed. @throws UntrustedChain if the grant does not verify */
async function give(
  session: UnlockedSession,
  { tokenId, places, ...owner }: TokensOwner & { tokenId: string; places: Place[] },
) {
  const place = await placeIn(session, owner.workspaceId)
  await giveKeys(place, owner, await findActiveToken(place, owner, tokenId), places)
}
