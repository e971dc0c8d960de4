/**
 * Creates a token for the agent that `--agent` names, for one run of the proxy by a member who may do so. It ends with
 * the run, or after a day. The server does not see it, it may not read, and without grants it can only report.
 */

import { makeToken } from '../client/agents/tokens.ts'
import type { Api } from '../client/http/api.ts'
import type { OpenWorkspace } from '../client/workspace.ts'
import { formatSealedToken, parseToken } from '../core/crypto/token.ts'
import { issueAgentToken, revokeAgentToken } from '../features/agents/contract.ts'

export type RunToken = {
  text: string
  /** Authenticates, and cannot decrypt. */
  sealed: string
  revoke(): Promise<void>
}

type Order = {
  api: Api
  workspace: OpenWorkspace
  agent: { id: string; project_id: string | null }
  /** Environments whose values the token may use. */
  grants: readonly { projectId: string; environment: string }[]
}

const LABEL = 'local proxy'

/** @throws ApiError, `forbidden` for non-admins */
export async function issueRunToken(order: Order): Promise<RunToken> {
  const { api, workspace, agent, grants } = order
  const params = { workspace_id: workspace.id, registration_id: agent.id }
  const made = await makeToken(
    workspace,
    { kind: 'agent', agentId: agent.id, projectId: agent.project_id, environment: null },
    { label: LABEL, expires_in_days: 1, capabilities: ['use'] },
    grants,
  )
  await api.call(issueAgentToken, { params, body: made.body })
  return {
    text: made.text,
    sealed: formatSealedToken(made.id, parseToken(made.text)?.secret ?? new Uint8Array()),
    revoke: async () => {
      await api.call(revokeAgentToken, { params: { ...params, token_id: made.id } })
    },
  }
}
