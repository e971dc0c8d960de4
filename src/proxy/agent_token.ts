/**
 * A token for the agent that `--agent` names, made for one run of the proxy by a member who may:
 * it ends with the run, or after a day. The server does not see it, it may not read, and without grants it
 * can do nothing but report.
 */

import type { Api } from '../client/api.ts'
import { makeToken, type OpenWorkspace } from '../client/vault.ts'
import { issueAgentToken, revokeAgentToken } from '../features/agents/contract.ts'
import { parseToken, sealedToken } from '../platform/crypto/token.ts'

export type RunToken = {
  text: string
  /** Authenticates, and cannot decrypt. */
  sealed: string
  revoke(): Promise<void>
}

type Order = {
  api: Api
  workspace: OpenWorkspace
  registrationId: string
  /** Environments whose values the token may use. */
  grants: readonly { projectId: string; environment: string }[]
}

const LABEL = 'local proxy'

/** @throws ApiError, `forbidden` for non-admins */
export async function issueRunToken(order: Order): Promise<RunToken> {
  const { api, workspace, registrationId, grants } = order
  const params = { workspace_id: workspace.id, registration_id: registrationId }
  const made = await makeToken(workspace, 'agt', grants)
  const capabilities = ['use' as const]
  const body = { label: LABEL, expires_in_days: 1, capabilities, token: made.order }
  await api.call(issueAgentToken, { params, body })
  return {
    text: made.text,
    sealed: sealedToken(made.id, parseToken(made.text)?.secret ?? new Uint8Array()),
    revoke: async () => {
      await api.call(revokeAgentToken, { params: { ...params, token_id: made.id } })
    },
  }
}
