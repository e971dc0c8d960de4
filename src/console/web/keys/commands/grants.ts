/** The keys of environments that a token has not. */
import { giveKeys, lackingKeys } from '../../../../client/actions/grant.ts'
import { grantTo } from '../../../../client/agents/tokens.ts'
import type { Place } from '../../../../client/signed/statements.ts'
import type { WorkspacePlace } from '../../../../client/workspace.ts'
import { getAgent } from '../../../../features/agents/contract.ts'
import type { HeldKeys } from '../held.ts'
import { placeIn } from '../places.ts'
import { activeToken, placesIn, projectNamesOf, type Token, type TokensOwner } from '../tokens.ts'

export const grantsCommands = { lacking, give }

type Lacking = { projectId: string; project: string; environment: string; hadEarlier: boolean }

/** Environments of a token's scope whose key it has not: a rekey left it behind, or they were made after it. */
async function lacking(
  held: HeldKeys,
  { tokenId, ...owner }: TokensOwner & { tokenId: string },
): Promise<Lacking[]> {
  const place = await placeIn(held, owner.workspaceId)
  const token = await activeToken(place, owner, tokenId)
  const places = await placesIn(held, owner.workspaceId, await scopeOf(place, owner, token))
  const projects = await projectNamesOf(held, owner.workspaceId)
  return lackingKeys(place.workspace, token, places).map((place) => ({
    ...place,
    project: projects.get(place.projectId) ?? place.projectId,
  }))
}

/** By what was signed; in a plain workspace the server says it. */
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

/** The keys of those that were shown. @throws UntrustedChain where the grant does not hold */
async function give(
  held: HeldKeys,
  { tokenId, places, ...owner }: TokensOwner & { tokenId: string; places: Place[] },
) {
  const place = await placeIn(held, owner.workspaceId)
  await giveKeys(place, owner, await activeToken(place, owner, tokenId), places)
}
