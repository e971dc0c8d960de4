/** Revoking tokens by links, which outlast the database. */

import { revocationOf } from '../client/agents/tokens.ts'
import { ApiError } from '../client/http/api.ts'
import type { Send } from '../client/signed/chain.ts'
import {
  listAgentTokens,
  listProjectAgents,
  listWorkloadTokens,
  revokeAgentToken,
  revokeWorkloadToken,
} from '../features/agents/contract.ts'
import { isSignedId } from '../sigchain/index.ts'
import type { Context } from './context.ts'
import type { WorkspaceScope } from './scope.ts'

/**
 * Ends these tokens. Where the server takes no link, as at the end of a chain that is full, it takes the call without one:
 * stopping is always allowed (protocol 12.1).
 */
export async function revoking(
  { output }: Pick<Context, 'output'>,
  { session, workspace }: WorkspaceScope,
  ids: readonly string[],
  send: (link?: Parameters<Send<unknown>>[0]) => Promise<unknown>,
): Promise<void> {
  try {
    await session.sign(workspace, (chain) => revocationOf(chain, ids), send)
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'link_refused') throw error
    await send()
    output.warn(
      'the server took no signature for it: only its database says that it ended, and who writes that can take it back',
    )
  }
}

type Ending = { projectId: string; environment?: string }
type Listed = { environment: string | null }

/** Those that the server lists and that end with it: of a project all, else those of the environment alone. */
export async function revokeTokensOf(
  context: Pick<Context, 'output'>,
  scope: WorkspaceScope,
  { projectId: project_id, environment }: Ending,
): Promise<void> {
  const { session, workspace } = scope
  if (!isSignedId(workspace.id)) return
  const { api } = session
  const workspace_id = workspace.id
  // Also those that the database calls revoked: it may take that back.
  const isEnding = (token: Listed) => (environment ?? token.environment) === token.environment
  const workloads = await api.list(listWorkloadTokens, { params: { project_id } })
  for (const { id: token_id } of workloads.filter(isEnding)) {
    const params = { project_id, token_id }
    await revoking(context, scope, [token_id], (link) =>
      api.call(revokeWorkloadToken, { params, body: { link } }),
    )
  }
  for (const agent of await api.list(listProjectAgents, { params: { workspace_id, project_id } })) {
    const place = { workspace_id, registration_id: agent.id }
    const tokens = await api.list(listAgentTokens, { params: place })
    for (const { id: token_id } of tokens.filter(isEnding)) {
      const params = { ...place, token_id }
      await revoking(context, scope, [token_id], (link) =>
        api.call(revokeAgentToken, { params, body: { link } }),
      )
    }
  }
}
