/**
 * WORKERS above 1: this process serves nothing itself. It brings the database up to date, finds the ports
 * and starts that many worker processes, which share the ports.
 */
import { readEmbeddedHash } from '../console/serve.ts'
import { ownCommand } from '../core/clean_environment.ts'
import type { Config } from '../core/config/config.ts'
import { type Log, openLog } from '../core/log.ts'
import { openDatabase } from '../database/open.ts'
import { prepareDatabase } from '../database/prepare.ts'
import { awaitServer } from '../database/reach.ts'
import { claimPorts } from './claim_ports.ts'
import { formatReadyText, type Origins } from './ready_text.ts'
import { notifyServiceManager } from './service_manager.ts'
import { STOP_SIGNALS } from './signals.ts'
import { Supervisor, type Worker } from './supervisor.ts'

/** A worker's index, from 0; set together with a channel to the supervisor. */
const INDEX_VARIABLE = 'CLOAKROOM_WORKER'
/** Milliseconds that workers get to finish running requests, after DRAIN_SECONDS. */
const STOP_MS = 35_000

/** The index of this process among the workers, or `null` if it is not a worker. */
export function workerIndex(): number | null {
  const index = process.env[INDEX_VARIABLE]
  return process.send === undefined || index === undefined ? null : Number(index)
}

/** Runs until a stop signal; returns the exit code. @throws WorkerFailed, and the errors of any start */
export async function superviseWorkers(config: Config): Promise<number> {
  const log = openLog(config.LOG_LEVEL)
  const { PORT, RESOLVER_PORT } = await claimPorts(config)
  const location = await prepare(config, log)
  const spawn = (index: number) => spawnWorker(index, { PORT, RESOLVER_PORT })
  const supervisor = new Supervisor<Origins>({ count: config.WORKERS, spawn, log })
  const stopped = Promise.withResolvers<void>()
  let asked = false
  for (const signal of STOP_SIGNALS) {
    process.on(signal, () => {
      if (asked) supervisor.kill()
      if (asked) process.exit(1)
      asked = true
      log.info('stopping', { signal })
      void notifyServiceManager('STOPPING=1', log)
      stopped.resolve()
    })
  }
  process.on('SIGUSR1', () => supervisor.report())
  const consoleHash = await readEmbeddedHash()
  const started = supervisor.start().then((places) => {
    const ready = {
      ...mergeOrigins(places),
      config,
      location,
      consoleHash,
      workers: config.WORKERS,
    }
    process.stdout.write(formatReadyText(ready))
    return notifyServiceManager('READY=1', log)
  })
  await Promise.race([started, stopped.promise])
  await stopped.promise
  const code = (await supervisor.stop(config.DRAIN_SECONDS * 1000 + STOP_MS)) ? 0 : 1
  log.info('stopped', { code })
  return code
}

/** Sends a worker's origins to the supervisor once it serves. */
export function reportReady(place: Origins): void {
  process.send?.(place)
}

/**
 * Resolves when the worker should finish: on request, or when the supervisor is gone. Ctrl-C at a terminal, or the
 * terminal's end, also reaches workers, but only the supervisor acts on it.
 */
export function workerStopped(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => {})
    process.on('SIGTERM', () => resolve())
    process.on('disconnect', () => resolve())
  })
}

/** Runs once, before any worker exists: a start that cannot succeed fails here, with one line. */
async function prepare(config: Config, log: Log): Promise<string> {
  await awaitServer(config, log)
  const connection = await openDatabase(config, () => {})
  try {
    await prepareDatabase(connection, config, log)
    return `PostgreSQL, ${connection.location}`
  } finally {
    await connection.close()
  }
}

type Ports = Partial<Record<'PORT' | 'RESOLVER_PORT', number | undefined>>

/**
 * Workers would share a port with any process that also shares it, such as a second server. So it was opened
 * exclusively before. 0 is replaced by the port that was found.
 */
function spawnWorker(index: number, ports: Ports): Worker<Origins> {
  const ready = Promise.withResolvers<Origins>()
  const chosen = Object.entries(ports).flatMap(([name, port]) => (port ? [[name, `${port}`]] : []))
  const child = Bun.spawn({
    cmd: ownCommand(),
    env: { ...process.env, ...Object.fromEntries(chosen), [INDEX_VARIABLE]: String(index) },
    stdio: ['ignore', 'inherit', 'inherit'],
    ipc: (message) => ready.resolve(message as Origins),
  })
  return {
    pid: child.pid,
    ready: ready.promise,
    exited: child.exited,
    kill: (signal) => child.kill(signal),
  }
}

/** Workers share their listeners, except for the metrics, of which each worker has its own. */
function mergeOrigins(places: readonly Origins[]): Origins {
  const [first] = places
  return {
    controlPlane: first?.controlPlane ?? null,
    resolver: first?.resolver ?? null,
    admin: places.flatMap(({ admin }) => admin),
  }
}
