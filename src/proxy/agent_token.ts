/**
 * A token for the agent that `--agent NAME` names, made for one run of the proxy by a member who may:
 * it ends with the run, or after a day. The server does not see it, it may not read, and without grants it
 * can do nothing but report.
 */

import type { Api } from '../client/api.ts'
import { makeToken, type OpenWorkspace } from '../client/vault.ts'
import {
  issueAgentToken,
  listAgents,
  registerAgent,
  revokeAgentToken,
} from '../features/agents/contract.ts'
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
  name: string
  /** Environments whose values the token may use. */
  grants: readonly { projectId: string; environment: string }[]
}

const LABEL = 'local proxy'

/** Registers the agent if there is none of that name. @throws ApiError, `forbidden` for non-admins */
export async function issueRunToken({ api, workspace, name, grants }: Order): Promise<RunToken> {
  const params = { workspace_id: workspace.id }
  const agents = await api.list(listAgents, { params })
  const known = agents.find((agent) => agent.name === name && agent.project_id === null)
  const made = await makeToken(workspace, 'agt', grants)
  const body = {
    label: LABEL,
    expires_in_days: 1,
    capabilities: ['use' as const],
    token: made.order,
  }
  const registrationId = known?.id ?? (await register())
  if (known) {
    const ofAgent = { ...params, registration_id: known.id }
    await api.call(issueAgentToken, { params: ofAgent, body })
  }
  return {
    text: made.text,
    sealed: sealedToken(made.id, parseToken(made.text)?.secret ?? new Uint8Array()),
    revoke: async () => {
      const ofToken = { ...params, registration_id: registrationId, token_id: made.id }
      await api.call(revokeAgentToken, { params: ofToken })
    },
  }

  async function register(): Promise<string> {
    const { agent } = await api.call(registerAgent, { params, body: { name, ...body } })
    return agent.id
  }
}
