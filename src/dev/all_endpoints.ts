/** Every contract that the application serves, from its own routes, with nothing running behind them. */
import { drizzle } from 'drizzle-orm/postgres-js'
import { controlPlaneRoutes, documented } from '../app.ts'
import { systemClock } from '../kernel/clock.ts'
import { readConfig } from '../kernel/config.ts'
import { OuterLayer } from '../kernel/crypto/outer_layer.ts'
import * as schema from '../kernel/db/schema/index.ts'
import { openLog } from '../kernel/log.ts'
import type { Documented } from '../kernel/openapi.ts'
import { generateKeys } from '../kernel/own_keys.ts'

export function allEndpoints(): Documented[] {
  const config = readConfig({}, generateKeys)
  const routes = controlPlaneRoutes({
    config,
    db: drizzle.mock({ schema, casing: 'snake_case' }),
    outer: OuterLayer.parse(config.ENCRYPTION_KEY),
    clock: systemClock,
    log: openLog('error'),
  })
  return documented(routes.filter(({ endpoint }) => !endpoint.name.startsWith('docs.')))
}
