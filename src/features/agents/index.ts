/** Agents and the tokens of agents and workloads: what may ask the resolver, for what, until when. */

import type { Route } from '../../platform/http/route.ts'
import type { FeatureServices } from '../../platform/services.ts'
import { agentRoutes } from './agent_routes.ts'
import { tokenRoutes } from './token_routes.ts'

export function agentsRoutes(services: FeatureServices): Route[] {
  return [...agentRoutes(services), ...tokenRoutes(services)]
}
