/**
 * The composition root: configuration in, two listeners out. Nothing else in the code knows all slices.
 */
import { healthRoutes, resolverHealthRoutes } from './health/index.ts'
import { openIdentity } from './identity/index.ts'
import { parseCidrs } from './kernel/cidr.ts'
import { type Clock, systemClock } from './kernel/clock.ts'
import type { Config } from './kernel/config.ts'
import { OuterLayer } from './kernel/crypto/outer_layer.ts'
import { checkEncryptionKey } from './kernel/db/key_check.ts'
import { migrate } from './kernel/db/migrate.ts'
import { type Connection, openDatabase } from './kernel/db/open.ts'
import { hostCheck } from './kernel/host.ts'
import type { Log } from './kernel/log.ts'
import { networkNamer } from './kernel/network.ts'
import { RateLimiter } from './kernel/rate.ts'
import { type Route, type Services, serve } from './kernel/serve.ts'
import type { SliceServices } from './kernel/slice.ts'
import { secretRoutes } from './secrets/index.ts'

export type App = {
  connection: Connection
  /** `http://host:port`, or `null` where ROLE leaves the listener out. */
  controlPlane: string | null
  resolver: string | null
  /** Stops accepting, finishes what runs, flushes the audit and closes the database. */
  stop(): Promise<void>
}

export type AppOptions = {
  log: Log
  clock?: Clock
  /** Called when the process can no longer do its work, such as after the embedded database died. */
  onFailure(reason: string): void
}

/** Milliseconds that running requests get after a stop was asked for. */
const DRAIN_MS = 30_000

export async function startApp(
  config: Config,
  { log, clock = systemClock, onFailure }: AppOptions,
): Promise<App> {
  const connection = await openDatabase(config, onFailure)
  try {
    return await listen(config, connection, { log, clock })
  } catch (error) {
    await connection.close()
    throw error
  }
}

async function listen(
  config: Config,
  connection: Connection,
  { log, clock }: { log: Log; clock: Clock },
): Promise<App> {
  const applied = await migrate(connection.sql)
  if (applied > 0) log.info('migrated', { applied })
  const { db } = connection
  const outer = OuterLayer.parse(config.ENCRYPTION_KEY)
  await checkEncryptionKey(db, outer)
  const services: SliceServices = { db, outer, clock, config, log }
  const shared = sharedServices(services)
  const controlPlane = serve({
    ...shared,
    surface: 'control-plane',
    routes: controlPlaneRoutes(services),
  })
  const resolver = serve({ ...shared, surface: 'resolver', routes: resolverRoutes(services) })
  return {
    connection,
    controlPlane:
      config.ROLE === 'resolver'
        ? null
        : controlPlane.open({ hostname: config.HOST, port: config.PORT }),
    resolver:
      config.ROLE === 'control-plane'
        ? null
        : resolver.open({ hostname: config.HOST, port: config.RESOLVER_PORT }),
    stop: async () => {
      await Promise.all([controlPlane.close(DRAIN_MS), resolver.close(DRAIN_MS)])
      await connection.close()
    },
  }
}

/** All routes of the control plane; also what the role matrix and the documentation walk. */
export function controlPlaneRoutes(services: SliceServices): Route[] {
  return [...healthRoutes(services, () => {}), ...secretRoutes(services)]
}

export function resolverRoutes(services: SliceServices): Route[] {
  return [...resolverHealthRoutes(services)]
}

function sharedServices({
  db,
  config,
  clock,
  log,
}: SliceServices): Omit<Services, 'surface' | 'routes'> {
  return {
    db,
    log,
    identity: openIdentity(db),
    checkHost: hostCheck(config.ALLOWED_HOSTS),
    networkOf: networkNamer(parseCidrs(config.TRUSTED_PROXIES)),
    limits: {
      register: new RateLimiter(config.RATE_REGISTER, clock),
      login: new RateLimiter(config.RATE_LOGIN, clock),
      api: new RateLimiter(config.RATE_API, clock),
    },
  }
}
