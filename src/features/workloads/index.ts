/** Delivery of secrets to containers and CI jobs, on both listeners. */
import type { Access } from '../../access/index.ts'
import { type Route, rawRoute } from '../../platform/http/route.ts'
import { deliverEnvironment } from './contract.ts'
import { deliver } from './deliver.ts'

export function workloadRoutes(access: Access): Route[] {
  return [rawRoute(deliverEnvironment, (context) => deliver(access, context))]
}
