/** Revokes tokens with signed links, and deletes agents, environments and projects with their tokens. */
import {
  deleteAgent as deleteAgentEndpoint,
  listProjectAgents,
  revokeAgentToken,
  revokeWorkloadToken,
} from '../../features/agents/contract.ts'
import {
  deleteEnvironment as deleteEnvironmentEndpoint,
  deleteProjectShort,
} from '../../features/projects/contract.ts'
import type { SignedText } from '../../sigchain/index.ts'
import { revocationOf, type TokenOwner } from '../agents/tokens.ts'
import { emptyRows, openWriter } from '../environment.ts'
import { ApiError } from '../http/api.ts'
import type { Place } from '../signed/statements.ts'
import type { WorkspacePlace } from '../workspace.ts'
import { listTokensOf } from './read_tokens.ts'

export type TokenEnding = WorkspacePlace & {
  /** The server accepted no link, so only its database records the revocation. */
  unsigned(): void
}

/**
 * If the server accepts no link, for example because the chain is full, the call is sent without one: stopping is
 * always allowed (protocol 12.1).
 */
async function endTokens(
  { workspace, unsigned }: TokenEnding,
  ids: readonly string[],
  send: (link?: SignedText) => Promise<unknown>,
): Promise<void> {
  try {
    await workspace.change((chain) => revocationOf(chain, ids), send)
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'link_refused') throw error
    await send()
    unsigned()
  }
}

/** The server then rejects the token. In a signed workspace, every verifier does. */
export function endToken(ending: TokenEnding, owner: TokenOwner, token_id: string): Promise<void> {
  const { api, workspace } = ending
  return endTokens(ending, [token_id], (link) =>
    'projectId' in owner
      ? api.call(revokeWorkloadToken, {
          params: { project_id: owner.projectId, token_id },
          body: { link },
        })
      : api.call(revokeAgentToken, {
          params: { workspace_id: workspace.id, registration_id: owner.agentId, token_id },
          body: { link },
        }),
  )
}

/** Deletes an agent with its tokens. Returns how many tokens a link revoked; null in a plain workspace. */
export async function removeAgent(ending: TokenEnding, agentId: string): Promise<number | null> {
  const { api, workspace } = ending
  const listed = workspace.chains ? await listTokensOf(ending, { agentId }) : []
  // The server ends all tokens, including expired ones.
  const ids = listed.flatMap(({ id, status }) => (status === 'revoked' ? [] : id))
  const params = { workspace_id: workspace.id, registration_id: agentId }
  await endTokens(ending, ids, (link) => api.call(deleteAgentEndpoint, { params, body: { link } }))
  return workspace.chains && ids.length
}

/** Deletes a project with its secrets, agents and tokens. @throws ApiError `not_found` if it is already deleted */
export async function removeProject(ending: TokenEnding, projectId: string): Promise<void> {
  await endTokensOf(ending, { projectId })
  await ending.api.call(deleteProjectShort, { params: { project: projectId } })
}

/** Deletes an environment with its secrets and tokens. @throws ApiError `not_found` if it is already deleted */
export async function removeEnvironment(ending: TokenEnding, { projectId, environment }: Place) {
  const params = { project_id: projectId, environment }
  const write = openWriter({ ...ending, projectId, environment })
  const deleted = await write(emptyRows, (manifest) =>
    ending.api.call(deleteEnvironmentEndpoint, { params, body: { manifest } }),
  ).catch(async (error: unknown) => {
    // The deletion may have stopped before its tokens.
    if (isNotFound(error)) await endTokensOf(ending, { projectId, environment })
    throw error
  })
  await endTokensOf(ending, { projectId, environment })
  return deleted
}

export function isNotFound(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'not_found'
}

/** The tokens that end with it: all of a project, or those of only this environment. */
async function endTokensOf(
  ending: TokenEnding,
  { projectId, environment }: { projectId: string; environment?: string },
): Promise<void> {
  const { api, workspace } = ending
  if (!workspace.chains) return
  const endAllOf = async (owner: TokenOwner) => {
    // Includes tokens that are revoked in the database, which could undo that.
    for (const token of await listTokensOf(ending, owner)) {
      const isEnding = environment === undefined || token.environment === environment
      if (isEnding) await endToken(ending, owner, token.id)
    }
  }
  await endAllOf({ projectId })
  const params = { workspace_id: workspace.id, project_id: projectId }
  for (const { id: agentId } of await api.list(listProjectAgents, { params })) {
    await endAllOf({ agentId })
  }
}
