/** Agents and the tokens of agents and workloads: who may ask the resolver, for what, until when. */

import type { Route } from '../kernel/serve.ts'
import type { SliceServices } from '../kernel/slice.ts'
import { agentRoutes } from './agent_routes.ts'
import { agentTokenRoutes, workloadTokenRoutes } from './token_routes.ts'

export function agentsRoutes(services: SliceServices): Route[] {
  return [...agentRoutes(services), ...agentTokenRoutes(services), ...workloadTokenRoutes(services)]
}
