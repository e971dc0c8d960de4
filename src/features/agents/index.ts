/** Agents, and the tokens of agents and workloads. */

import type { Route } from '../../http/route.ts'
import type { SignedServices } from '../links/index.ts'
import { agentRoutes } from './agent_routes.ts'
import { tokenRoutes } from './token_routes.ts'

export { endGrants, keepGrants } from './ending.ts'
export type { KeptGrants } from './shapes.ts'

export function agentsRoutes(services: SignedServices): Route[] {
  return [...agentRoutes(services), ...tokenRoutes(services)]
}
