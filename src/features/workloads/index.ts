/** Delivery of secrets to containers and CI jobs, on both listeners. */
import type { Broker } from '../../access/index.ts'
import { type Route, rawRoute } from '../../platform/http/serve.ts'
import { deliverEnvironment } from './contract.ts'
import { deliver } from './deliver.ts'

export function workloadRoutes(broker: Broker): Route[] {
  return [rawRoute(deliverEnvironment, (exchange) => deliver(broker, exchange))]
}
