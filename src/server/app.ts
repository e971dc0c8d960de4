/**
 * The composition root: configuration in, two listeners out. Nothing else in the code knows all slices.
 */
import { Cron } from 'croner'
import { type Access, forgetWorkspace, openAccess } from '../access/index.ts'
import { reporterOf } from '../access/reporters.ts'
import { storeChanges } from '../audit/changes.ts'
import { AuditTrail } from '../audit/trail.ts'
import { accountsRoutes } from '../features/accounts/index.ts'
import { agentsRoutes } from '../features/agents/index.ts'
import { allowlistRoutes } from '../features/allowlist/index.ts'
import { recordAuditLogs } from '../features/audit/contract.ts'
import { auditRoutes } from '../features/audit/index.ts'
import { ingestionRoutes } from '../features/audit/ingestion.ts'
import { scheduleUpkeep } from '../features/audit/upkeep.ts'
import { getResolverHealth } from '../features/health/contract.ts'
import { healthRoutes, resolverHealthRoutes } from '../features/health/index.ts'
import { ActivityLog, stamping } from '../features/metrics/activity.ts'
import { metricsRoutes, scheduleMetrics } from '../features/metrics/index.ts'
import { openWatch } from '../features/metrics/watch.ts'
import { projectRoutes } from '../features/projects/index.ts'
import { referenceRoutes } from '../features/reference/index.ts'
import { secretRoutes } from '../features/secrets/index.ts'
import { deliverEnvironment } from '../features/workloads/contract.ts'
import { workloadRoutes } from '../features/workloads/index.ts'
import { workspaceRoutes } from '../features/workspaces/index.ts'
import { openIdentity } from '../identity/index.ts'
import type { Lookup } from '../outbound/address_lookup.ts'
import { type Clock, systemClock } from '../platform/clock.ts'
import type { Config } from '../platform/config/config.ts'
import { vacuumStatement } from '../platform/db/embedded/open.ts'
import { openBus, POLICY_CHANGES } from '../platform/db/notify.ts'
import { type Connection, openDatabase } from '../platform/db/open.ts'
import { prepareDatabase } from '../platform/db/prepare.ts'
import { hostCheck } from '../platform/http/host.ts'
import { RateLimiter } from '../platform/http/rate.ts'
import type { Route, Services } from '../platform/http/route.ts'
import { serve } from '../platform/http/serve.ts'
import { describeError, type Log } from '../platform/log.ts'
import { parseCidrs } from '../platform/net/cidr.ts'
import { networkNamer } from '../platform/net/network.ts'
import type { Documented } from '../platform/openapi/document.ts'
import type { FeatureServices } from '../platform/services.ts'
import { forwardCalls, listDomains, resolveCall } from '../resolver/contract.ts'
import { openResolver, type Resolver } from '../resolver/index.ts'
import { adminPortOf, configuredPorts } from './ports.ts'

export type App = {
  connection: Connection
  /** `http://host:port`, or `null` where ROLE leaves the listener out. */
  controlPlane: string | null
  resolver: string | null
  /** `null` without ADMIN_PORT. */
  admin: string | null
  /** Stops accepting, finishes what runs, flushes the audit and closes the database. */
  stop(): Promise<void>
}

export type AppOptions = {
  log: Log
  clock?: Clock
  /** Name resolution of the resolver; DNS unless given. */
  lookup?: Lookup
  /** Which of WORKERS processes this is, from 0. */
  worker?: number
  /** Called when the process can no longer do its work, such as after the embedded database died. */
  onFailure(reason: string): void
}

/** Milliseconds that running requests get after a stop was asked for. */
const DRAIN_MS = 30_000
/** Milliseconds that the audit then gets to write its last outcomes. */
const FLUSH_MS = 5_000

export async function startApp(
  config: Config,
  { log, clock = systemClock, lookup, worker = 0, onFailure }: AppOptions,
): Promise<App> {
  const connection = await openDatabase(config, onFailure)
  try {
    return await listen(config, connection, { log, clock, lookup, worker })
  } catch (error) {
    await connection.close()
    throw error
  }
}

async function listen(
  config: Config,
  connection: Connection,
  options: { log: Log; clock: Clock; lookup: Lookup | undefined; worker: number },
): Promise<App> {
  const { log, clock, lookup, worker } = options
  const { db } = connection
  const outer = await prepareDatabase(connection, config, log)
  const services: FeatureServices = { db, outer, clock, config, log }
  const watch = openWatch({ ...config, ADMIN_PORT: adminPortOf(config, worker) })
  const trail = new AuditTrail(connection.sql, log, watch?.instruments)
  const access = openAccess(services, { sql: connection.sql, trail })
  const bus = openBus(connection, log)
  const activity = new ActivityLog(services)
  const ports = configuredPorts(config)
  const resolver = openResolver(services, {
    access,
    ownPorts: () => ports,
    lookup,
  })
  const onPolicyChange = (workspaceId?: string) => {
    forgetWorkspace(access, workspaceId)
    resolver.recheck(workspaceId)
  }
  bus.subscribe(POLICY_CHANGES, { onNotice: onPolicyChange, onGap: () => onPolicyChange() })
  const listeners = openListeners(services, {
    resolver,
    access,
    activity,
    onChange: (workspaceId) => bus.publish(POLICY_CHANGES, workspaceId),
    onRequest: watch?.instruments.onRequest,
  })
  const admin = watch?.open({ sql: connection.sql, ...access }) ?? null
  ports.push(
    ...[...listeners.origins, admin?.origin].flatMap((origin) =>
      origin ? [Number(new URL(origin).port)] : [],
    ),
  )
  const jobs = [
    scheduleVacuum(connection, log),
    scheduleUpkeep(services, config.AUDIT_RETENTION_DAYS),
    scheduleMetrics(services),
  ]
  return {
    connection,
    controlPlane: listeners.origins[0],
    resolver: listeners.origins[1],
    admin: admin?.origin ?? null,
    stop: async () => {
      await listeners.close()
      await admin?.close()
      resolver.close()
      for (const job of jobs) job?.stop()
      await bus.close()
      await Promise.all([activity.close(FLUSH_MS), trail.close(FLUSH_MS)])
      await connection.close()
    },
  }
}

type Parts = Pick<Services, 'onChange' | 'onRequest'> & {
  resolver: Resolver
  access: Access
  activity: ActivityLog
}

function openListeners(services: FeatureServices, parts: Parts) {
  const { HOST: hostname, PORT, RESOLVER_PORT, ROLE, WORKERS } = services.config
  const socket = { hostname, shared: WORKERS > 1 }
  const { resolver, access, activity, onChange, onRequest } = parts
  const identity = stamping(openIdentity(services.db), activity)
  const shared = { ...sharedServices(services), identity, onChange, onRequest }
  const control = serve({
    ...shared,
    surface: 'control-plane',
    routes: [
      ...controlPlaneRoutes(services, () => activity.flush()),
      ...ingestionRoutes(services, reporterOf(shared, access)),
      ...workloadRoutes(access),
    ],
  })
  const outbound = serve({
    ...shared,
    surface: 'resolver',
    routes: [...resolverHealthRoutes(services), ...resolver.routes, ...workloadRoutes(access)],
  })
  const origins = [
    ROLE === 'resolver' ? null : control.open({ ...socket, port: PORT }),
    ROLE === 'control-plane' ? null : outbound.open({ ...socket, port: RESOLVER_PORT }),
  ] as const
  return {
    origins,
    close: () => Promise.all([control.close(DRAIN_MS), outbound.close(DRAIN_MS)]),
  }
}

/** Nobody else vacuums the embedded database: it has no background processes. */
function scheduleVacuum({ kind, sql }: Connection, log: Log): Cron | null {
  if (kind !== 'embedded') return null
  return new Cron('17 * * * *', { protect: true, unref: true }, async () => {
    try {
      await sql.unsafe(vacuumStatement)
    } catch (error) {
      log.warning('vacuum failed', describeError(error))
    }
  })
}

/** All routes of the control plane; also what the role matrix and the documentation walk. */
export function controlPlaneRoutes(
  services: FeatureServices,
  flushActivity: () => Promise<void> = async () => {},
): Route[] {
  const routes = [
    ...healthRoutes(services, () => {}),
    ...accountsRoutes(services),
    ...workspaceRoutes(services),
    ...allowlistRoutes(services),
    ...projectRoutes(services),
    ...agentsRoutes(services),
    ...secretRoutes(services),
    ...auditRoutes(services),
    ...metricsRoutes(services, flushActivity),
  ]
  return [...routes, ...referenceRoutes(() => documented(routes))]
}

/** What both listeners serve, for the documentation. */
export function documented(routes: readonly Route[]): Documented[] {
  return [
    {
      surface: 'control-plane',
      endpoints: [...routes.map(({ endpoint }) => endpoint), recordAuditLogs, deliverEnvironment],
    },
    {
      surface: 'resolver',
      endpoints: [getResolverHealth, resolveCall, listDomains, ...forwardCalls, deliverEnvironment],
    },
  ]
}

function sharedServices({
  db,
  config,
  clock,
  log,
}: FeatureServices): Omit<Services, 'surface' | 'routes' | 'identity'> {
  return {
    db,
    log,
    storeChanges,
    checkHost: hostCheck(config.ALLOWED_HOSTS),
    networkOf: networkNamer(parseCidrs(config.TRUSTED_PROXIES)),
    limits: {
      register: new RateLimiter(config.RATE_REGISTER, clock),
      login: new RateLimiter(config.RATE_LOGIN, clock),
      api: new RateLimiter(config.RATE_API, clock),
    },
    cronSecret: config.CRON_SECRET,
  }
}
