/** Revoking by links, which outlast the database, what ends with a project or an environment. */
import { revocationOf } from '../client/tokens.ts'
import {
  listAgentTokens,
  listProjectAgents,
  listWorkloadTokens,
  revokeAgentToken,
  revokeWorkloadToken,
} from '../features/agents/contract.ts'
import { isSignedId } from '../sigchain/index.ts'
import type { WorkspaceScope } from './scope.ts'

type Ending = { projectId: string; environment?: string }
type Listed = { environment: string | null }

/** Those that the server lists and that end with it: of a project all, else those of the environment alone. */
export async function revokeTokensOf(
  { session, workspace }: WorkspaceScope,
  { projectId: project_id, environment }: Ending,
): Promise<void> {
  if (!isSignedId(workspace.id)) return
  const { api } = session
  const workspace_id = workspace.id
  // Also those that the database calls revoked: it may take that back.
  const isEnding = (token: Listed) => (environment ?? token.environment) === token.environment
  const revocation = (id: string) => (chain: Parameters<typeof revocationOf>[0]) =>
    revocationOf(chain, [id])
  const workloads = await api.list(listWorkloadTokens, { params: { project_id } })
  for (const { id: token_id } of workloads.filter(isEnding)) {
    const params = { project_id, token_id }
    await session.sign(workspace, revocation(token_id), (link) =>
      api.call(revokeWorkloadToken, { params, body: { link } }),
    )
  }
  for (const agent of await api.list(listProjectAgents, { params: { workspace_id, project_id } })) {
    const place = { workspace_id, registration_id: agent.id }
    const tokens = await api.list(listAgentTokens, { params: place })
    for (const { id: token_id } of tokens.filter(isEnding)) {
      const params = { ...place, token_id }
      await session.sign(workspace, revocation(token_id), (link) =>
        api.call(revokeAgentToken, { params, body: { link } }),
      )
    }
  }
}
