/** The agent in whose name a local proxy calls. */
import { type Api, ApiError } from '../../client/http/api.ts'
import { getAgent } from '../../features/agents/contract.ts'

/** The agent that `--agent` named: actions in its name end when it is removed. */
export type NamedAgent = { id: string; name: string }

export class AgentRemoved extends Error {
  constructor({ name }: NamedAgent) {
    super(`The agent ${name} was deleted, so the call was not sent.`)
  }
}

/** @throws AgentRemoved, ApiError */
export async function checkIsThere(
  api: Api,
  workspaceId: string,
  agent: NamedAgent | null | undefined,
): Promise<void> {
  if (!agent) return
  const params = { workspace_id: workspaceId, registration_id: agent.id }
  try {
    await api.call(getAgent, { params })
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) throw new AgentRemoved(agent)
    throw error
  }
}
