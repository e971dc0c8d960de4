/** Every contract that the application serves, from its own routes, with nothing running behind them. */
import { drizzle } from 'drizzle-orm/postgres-js'
import { ChainCache } from '../access/signed/chains.ts'
import { BodyMemory } from '../core/body_memory.ts'
import { systemClock } from '../core/clock.ts'
import { readConfig } from '../core/config/config.ts'
import { OuterLayer } from '../core/crypto/outer_layer.ts'
import { Pepper } from '../core/crypto/pepper.ts'
import { openLog } from '../core/log.ts'
import { defaultPasswordCost } from '../core/password_cost.ts'
import { SINGLE_PROCESS } from '../database/limits/sharers.ts'
import * as schema from '../database/schema/index.ts'
import { LiveAudit } from '../features/audit/live.ts'
import type { Documented } from '../http/openapi/document.ts'
import { Notices } from '../notices/notices.ts'
import { generateKeys } from '../operator/own_keys.ts'
import { controlPlaneRoutes, listDocumented } from '../server/routes.ts'

export function listAllEndpoints(): Documented[] {
  const config = readConfig({}, generateKeys)
  const parts = {
    config,
    db: drizzle.mock({ schema, casing: 'snake_case' }),
    outer: OuterLayer.parse(config.ENCRYPTION_KEY),
    pepper: Pepper.parse(config.SECRET_KEY),
    preloginKey: null,
    clock: systemClock,
    passwordCost: defaultPasswordCost,
    live: SINGLE_PROCESS,
    bodies: new BodyMemory(),
    isStopping: () => false,
    log: openLog('error'),
    chains: new ChainCache(),
  }
  const services = { ...parts, notices: new Notices(parts) }
  const doNothing = async () => {}
  const flushes = { activity: doNothing, audit: doNothing }
  return listDocumented(controlPlaneRoutes(services, flushes, new LiveAudit(services)))
}
