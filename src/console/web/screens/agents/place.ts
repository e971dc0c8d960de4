/** The address of the agents screen: the row that is open, and the owner of the token that is created. */
import { getRouteApi } from '@tanstack/react-router'
import type { Returned } from '../../keys/messages.ts'

export const agentsRoute = getRouteApi('/w/$workspaceId/agents')

export type AllAgents = Returned<'agents.all'>
export type AgentToken = AllAgents['agents'][number]['tokens'][number]

/** Replaces the search parameters; without any, only the list is shown. */
export function useAgentSearch() {
  const navigate = agentsRoute.useNavigate()
  return (search: { make?: string; show?: string }) => void navigate({ search })
}
