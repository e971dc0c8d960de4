/** Delivery of secrets to containers and CI jobs, on both listeners. */
import type { Access } from '../../access/index.ts'
import { type Route, rawRoute } from '../../http/route.ts'
import { deliverEnvironment, getToken, getVersion } from './contract.ts'
import { deliver } from './deliver.ts'
import { describeToken } from './token.ts'
import { tellVersion } from './version.ts'

export function workloadRoutes(access: Access): Route[] {
  return [
    rawRoute(deliverEnvironment, (context) => deliver(access, context)),
    rawRoute(getToken, (context) => describeToken(access, context)),
    rawRoute(getVersion, (context) => tellVersion(access, context)),
  ]
}
