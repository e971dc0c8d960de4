/** The composition root: configuration in, two listeners out. No other module depends on all parts. */
import { Cron } from 'croner'
import { type Access, forgetWorkspace, openAccess } from '../access/index.ts'
import { scheduleApprovalUpkeep } from '../approvals/upkeep.ts'
import { openAudit } from '../audit/open.ts'
import { endsWithin } from '../core/async/timeout.ts'
import { systemTimers, type Timers } from '../core/async/timers.ts'
import { type BodyMemory, openBodyMemory } from '../core/body_memory.ts'
import { type Clock, systemClock } from '../core/clock.ts'
import type { Config } from '../core/config/config.ts'
import { describeError, type Log } from '../core/log.ts'
import { defaultPasswordCost, type PasswordCost } from '../core/password_cost.ts'
import { openTracer, type Tracer } from '../core/trace/tracer.ts'
import { vacuumStatement } from '../database/embedded/open.ts'
import { openLiveProcesses, scheduleBeats } from '../database/limits/sharers.ts'
import { scheduleSweeps } from '../database/limits/upkeep.ts'
import { type Bus, openBus, POLICY_CHANGES } from '../database/notify.ts'
import { type Connection, openDatabase } from '../database/open.ts'
import { prepareDatabase } from '../database/prepare.ts'
import { scheduleUpkeep } from '../features/audit/upkeep.ts'
import { ActivityLog } from '../features/metrics/activity.ts'
import { scheduleMetrics } from '../features/metrics/index.ts'
import { openWatch } from '../features/metrics/watch.ts'
import { scheduleProjectUpkeep } from '../features/projects/deleted.ts'
import type { FeatureServices } from '../http/services.ts'
import type { Notices } from '../notices/notices.ts'
import { scheduleNotices } from '../notices/upkeep.ts'
import { scheduleBackups } from '../operator/backup/schedule.ts'
import { answerOperators } from '../operator/operators.ts'
import type { Lookup } from '../outbound/connection/address_lookup.ts'
import { figuresOf } from './figures.ts'
import { openListeners } from './listeners.ts'
import { type OutgoingServices, openOutgoing } from './outgoing.ts'

export type App = {
  connection: Connection
  /** `http://host:port`, or `null` where ROLE leaves the listener out. */
  controlPlane: string | null
  resolver: string | null
  /** `null` without ADMIN_PORT. */
  admin: string | null
  /** Writes all unwritten audit records. */
  flushAudit(): Promise<void>
  /** Counts of waiting, cached and open objects, for a report. */
  figures(): object
  /** The memory that this process's bodies use. */
  bodies: BodyMemory
  /** `null` if tracing is off. */
  tracer: Tracer | null
  /** Drains for DRAIN_SECONDS, stops accepting, finishes requests, flushes the audit and closes the database. */
  stop(): Promise<void>
}

export type AppOptions = {
  log: Log
  clock?: Clock
  /** For deadlines, waits and drains. */
  timers?: Timers
  /** Cost of the password hashes; `defaultPasswordCost` unless given. */
  passwordCost?: PasswordCost
  /** Name resolution of the resolver. Default: DNS. */
  lookup?: Lookup
  /** The index of this process among WORKERS, from 0. */
  worker?: number
  /** Called when the process can no longer work, for example after the embedded database died. */
  onFailure(reason: string): void
}

/** Milliseconds for each service to store pending data: a frozen database must not prevent a stop. */
const FLUSH_MS = 5_000

export async function startApp(
  config: Config,
  { onFailure, lookup, ...given }: AppOptions,
): Promise<App> {
  const { log, clock = systemClock, timers = systemTimers, worker = 0 } = given
  const { passwordCost = defaultPasswordCost } = given
  const tracer = openTracer(config, log)
  const connection = await openDatabase(config, onFailure, {
    isTraced: tracer !== null,
    isServing: true,
  })
  try {
    const own = { log, clock, timers, passwordCost, worker, bodies: openBodyMemory(config) }
    return await compose(config, connection, { ...own, lookup, tracer })
  } catch (error) {
    await connection.close()
    throw error
  }
}

type Parts = Required<Pick<AppOptions, 'log' | 'clock' | 'timers' | 'passwordCost' | 'worker'>> & {
  lookup: Lookup | undefined
  tracer: Tracer | null
  bodies: BodyMemory
}

async function compose(config: Config, connection: Connection, options: Parts): Promise<App> {
  const { lookup, timers, worker, tracer, ...given } = options
  const keys = await prepareDatabase(connection, config, given.log)
  const { isStopping, beginStop } = openDrain(config, timers)
  const { db } = connection
  const live = await openLiveProcesses({ db, config })
  const services: FeatureServices = { db, ...keys, ...given, config, live, isStopping }
  const watch = openWatch(services, adminPortOf(config, worker))
  const isLooking = config.ROLE === 'resolver' && connection.kind === 'postgresql'
  const watched = { log: given.log, timers, observer: watch?.instruments, isLooking }
  const audit = await openAudit({ ...connection, ...watched })
  const { sql } = connection
  const access = openAccess(services, { sql, trail: audit.trail })
  const bus = openBus(connection, given.log, timers)
  const activity = new ActivityLog(services)
  const ports = listConfiguredPorts(config)
  const onChange = (workspaceId: string) => bus.publish(POLICY_CHANGES, workspaceId)
  const ownPorts = () => ports
  const outgoing = openOutgoing(services, { access, sql, lookup, ownPorts, timers, bus, onChange })
  const { resolver } = outgoing
  followChanges(bus, access, outgoing)
  const listeners = openListeners(services, {
    ...outgoing,
    access,
    activity,
    ...audit,
    onChange,
    onRequest: watch?.instruments.onRequest,
    tracer,
  })
  const dataDir = connection.kind === 'embedded' ? config.DATA_DIR : null
  const admin = watch?.open({ sql, tracer, dataDir, ...access }) ?? null
  ports.push(...portsIn([listeners.controlPlane, listeners.resolver, admin?.origin]))
  const jobs = jobsOf(services, connection, { watch, isLooking, ...outgoing })
  return {
    connection,
    controlPlane: listeners.controlPlane,
    resolver: listeners.resolver,
    admin: admin?.origin ?? null,
    flushAudit: audit.flushAudit,
    figures: () => figuresOf({ ...audit, access, resolver, tracer, bodies: given.bodies }),
    bodies: given.bodies,
    tracer,
    stop: async () => {
      await beginStop().then(listeners.close)
      await admin?.close()
      await endsWithin(FLUSH_MS, outgoing.close())
      for (const job of jobs) job?.stop()
      await Promise.all([bus.close(), live.end()])
      await Promise.all([activity, audit, tracer].map((one) => one?.close(FLUSH_MS)))
      await connection.close()
      access.chains.seen.close()
    },
  }
}

function portsIn(origins: readonly (string | null | undefined)[]): number[] {
  return origins.flatMap((origin) => (origin ? [Number(new URL(origin).port)] : []))
}

type Watching = {
  watch: ReturnType<typeof openWatch>
  isLooking: boolean
  notices: Notices
}

function jobsOf(
  services: FeatureServices,
  connection: Connection,
  { watch, isLooking, notices }: Watching,
) {
  // A resolver on PostgreSQL leaves this to the control plane, whose rows it touches.
  const upkeep = [scheduleProjectUpkeep, scheduleMetrics, scheduleSweeps, scheduleApprovalUpkeep]
  return [
    scheduleBeats(services),
    scheduleVacuum(connection, services.log),
    ...(isLooking ? [] : upkeep.map((schedule) => schedule(services))),
    isLooking ? null : scheduleNotices({ ...services, notices }),
    isLooking ? null : scheduleUpkeep(services, services.config.AUDIT_RETENTION_DAYS),
    scheduleBackups({ ...services, connection, observe: watch?.instruments.onBackup }),
    answerOperators({ ...services, connection, now: services.clock.now }),
  ]
}

/** Drops state that other processes changed, and rechecks open streams. */
function followChanges(bus: Bus, access: Access, { resolver, approvals }: OutgoingServices): void {
  const onChange = (workspaceId?: string) => {
    forgetWorkspace(access, workspaceId)
    resolver.recheck(workspaceId)
    void approvals.waiters.look(workspaceId)
  }
  bus.subscribe(POLICY_CHANGES, { onNotice: onChange, onGap: () => onChange() })
}

/** The embedded database has no background processes that would vacuum it. */
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

type Drain = {
  isStopping(): boolean
  /** Returns after DRAIN_SECONDS. */
  beginStop(): Promise<void>
}

/** Time between a stop and the end of accepting. Health checks fail, so load balancers send requests elsewhere. */
export function openDrain(
  { DRAIN_SECONDS }: Pick<Config, 'DRAIN_SECONDS'>,
  timers = systemTimers,
): Drain {
  let isStopping = false
  return {
    isStopping: () => isStopping,
    beginStop: async () => {
      isStopping = true
      await timers.sleep(DRAIN_SECONDS * 1000)
    },
  }
}

type Ports = Pick<Config, 'PORT' | 'RESOLVER_PORT' | 'ADMIN_PORT' | 'WORKERS'>

/** Each worker serves its own metrics, on consecutive ports from ADMIN_PORT. */
export function adminPortOf({ ADMIN_PORT }: Pick<Ports, 'ADMIN_PORT'>, worker: number) {
  return ADMIN_PORT === undefined ? undefined : ADMIN_PORT + worker
}

/**
 * Returns the product's configured ports on this machine: those of every worker and of processes with another ROLE too,
 * so that no call can reach another process's listener. Ports that the system picks are missing.
 */
export function listConfiguredPorts(config: Ports): number[] {
  const { PORT, RESOLVER_PORT, ADMIN_PORT, WORKERS } = config
  const admin =
    ADMIN_PORT === undefined || ADMIN_PORT === 0
      ? []
      : Array.from({ length: WORKERS }, (_, worker) => ADMIN_PORT + worker)
  return [PORT, RESOLVER_PORT, ...admin].filter((port) => port !== 0)
}
