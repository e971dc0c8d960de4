/** Every contract that the application serves, from its own routes, with nothing running behind them. */
import { drizzle } from 'drizzle-orm/postgres-js'
import { ChainCache } from '../access/signed/chains.ts'
import { LiveAudit } from '../features/audit/live.ts'
import { systemClock } from '../platform/clock.ts'
import { readConfig } from '../platform/config/config.ts'
import { OuterLayer } from '../platform/crypto/outer_layer.ts'
import { Pepper } from '../platform/crypto/pepper.ts'
import * as schema from '../platform/db/schema/index.ts'
import { BodyMemory } from '../platform/limits/body_memory.ts'
import { LIVES_ALONE } from '../platform/limits/sharers.ts'
import { openLog } from '../platform/log.ts'
import type { Documented } from '../platform/openapi/document.ts'
import { defaultPasswordCost } from '../platform/password_cost.ts'
import { generateKeys } from '../server/own_keys.ts'
import { controlPlaneRoutes, documented } from '../server/routes.ts'

export function allEndpoints(): Documented[] {
  const config = readConfig({}, generateKeys)
  const services = {
    config,
    db: drizzle.mock({ schema, casing: 'snake_case' }),
    outer: OuterLayer.parse(config.ENCRYPTION_KEY),
    pepper: Pepper.parse(config.SECRET_KEY),
    preloginKey: null,
    clock: systemClock,
    passwordCost: defaultPasswordCost,
    live: LIVES_ALONE,
    bodies: new BodyMemory(),
    isStopping: () => false,
    log: openLog('error'),
    chains: new ChainCache(),
  }
  const nothing = async () => {}
  const flushes = { activity: nothing, audit: nothing }
  return documented(controlPlaneRoutes(services, flushes, new LiveAudit(services)))
}
