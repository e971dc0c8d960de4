/** `cloakroom serve`: starts the application or its workers, prints its addresses, and stops it gracefully. */
import { writeSync } from 'node:fs'
import { readEmbeddedHash } from '../console/serve.ts'
import { describeIgnoredProxies, enterCleanEnvironment } from '../core/clean_environment.ts'
import { type Config, ConfigError, readConfig } from '../core/config/config.ts'
import { EX_CONFIG } from '../core/exit_codes.ts'
import { describeError, type Log, openLog, rememberProblems } from '../core/log.ts'
import { complaints } from '../core/printable.ts'
import { explainUnwritable } from '../database/embedded/data_directory_error.ts'
import { DataDirectoryError } from '../database/embedded/open.ts'
import { SchemaError } from '../database/migrations/schema_error.ts'
import { awaitServer, ServerUnreachable } from '../database/reach.ts'
import { readOwnKeys } from '../operator/own_keys.ts'
import { reportOnSignal } from '../operator/report.ts'
import { type App, startApp } from './app.ts'
import { claimPorts, PortsTaken } from './claim_ports.ts'
import { formatReadyText } from './ready_text.ts'
import { notifyServiceManager } from './service_manager.ts'
import { ignoreOtherSignals, STOP_SIGNALS } from './signals.ts'
import { WorkerFailed } from './supervisor.ts'
import { reportReady, superviseWorkers, workerIndex, workerStopped } from './workers.ts'

const STDERR = 2

export async function runServe(): Promise<number> {
  warnOfProxies()
  enterCleanEnvironment()
  ignoreOtherSignals()
  try {
    const notices: string[] = []
    const warnings: string[] = []
    const config = readConfig(
      process.env,
      (dataDir) => readOwnKeys(dataDir, (text) => notices.push(text)),
      (line) => warnings.push(line),
    )
    if (workerIndex() === null) for (const line of warnings) openLog(config.LOG_LEVEL).warning(line)
    const isSupervisor = config.WORKERS > 1 && workerIndex() === null
    if (isSupervisor) process.exit(await superviseWorkers(config))
    return await serveUntilStopped(config, notices)
  } catch (error) {
    // A failed start may have left a listener or a timer: end all of them.
    process.exit(explain(error))
  }
}

/** Writes synchronously, because this process replaces itself next. The log's own level is not read yet. */
function warnOfProxies(): void {
  const ignored = describeIgnoredProxies(process.env)
  const least = process.env.LOG_LEVEL === 'error' ? 'error' : 'warning'
  if (ignored) openLog(least, (line) => void writeSync(STDERR, line)).warning(ignored)
}

async function serveUntilStopped(config: Config, notices: readonly string[]): Promise<never> {
  const { log, problems } = rememberProblems(openLog(config.LOG_LEVEL))
  const failed = Promise.withResolvers<number>()
  const worker = workerIndex()
  // A worker shares its ports with the others, and its supervisor has checked them.
  if (worker === null) await claimPorts(config)
  await interruptible(awaitServer(config, log))
  const app = await startApp(config, {
    log,
    worker: worker ?? 0,
    onFailure: (reason) => {
      log.error('the database failed', { reason })
      failed.resolve(1)
    },
  })
  const stopped = worker === null ? waitForStopSignal(log) : workerStopped()
  reportOnSignal({ ...app, config, log, problems: () => problems })
  await announce(app, { config, worker, notices })
  if (worker === null) await notifyServiceManager('READY=1', log)
  const code = await Promise.race([failed.promise, stopped.then(() => 0)])
  await app.stop()
  log.info('stopped', { code })
  process.exit(code)
}

/** Exits on a signal: the first process of a container is not ended by signals without a handler. */
async function interruptible(work: Promise<void>): Promise<void> {
  const end = () => process.exit(1)
  for (const signal of STOP_SIGNALS) process.on(signal, end)
  await work
  for (const signal of STOP_SIGNALS) process.off(signal, end)
}

/** Stops on the first signal. A second one exits immediately. */
function waitForStopSignal(log: Log): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let asked = false
  for (const signal of STOP_SIGNALS) {
    // Always keep a handler: the default would end the process during the stop.
    process.on(signal, () => {
      if (asked) process.exit(1)
      asked = true
      log.info('stopping', { signal })
      void notifyServiceManager('STOPPING=1', log)
      resolve()
    })
  }
  return promise
}

/** Reports to the supervisor, or to the people at the terminal. */
async function announce(
  app: App,
  {
    config,
    worker,
    notices,
  }: { config: Config; worker: number | null; notices: readonly string[] },
): Promise<void> {
  const { controlPlane, resolver, connection } = app
  const place = { controlPlane, resolver, admin: app.admin ? [app.admin] : [] }
  const database = connection.kind === 'embedded' ? 'embedded, in' : 'PostgreSQL,'
  const location = `${database} ${connection.location}`
  if (worker !== null) return reportReady(place)
  const consoleHash = await readEmbeddedHash()
  process.stdout.write(formatReadyText({ ...place, config, location, consoleHash, notices }))
}

/** Problems that a retry may solve. */
const TRANSIENT = new Set<DataDirectoryError['problem']>(['in_use', 'not_writable'])

/** Prints a failed start's reasons, one line per problem, without a stack. */
function explain(error: unknown): number {
  if (error instanceof ConfigError || error instanceof PortsTaken) {
    process.stderr.write(complaints(error.problems))
    return error instanceof ConfigError ? EX_CONFIG : 1
  }
  if (error instanceof SchemaError) {
    process.stderr.write(complaints([`${error.code}: ${error.message}`]))
    return EX_CONFIG
  }
  if (error instanceof DataDirectoryError) {
    process.stderr.write(complaints([`${error.problem}: ${error.message}`]))
    return TRANSIENT.has(error.problem) ? 1 : EX_CONFIG
  }
  // The worker has logged the reason.
  if (error instanceof WorkerFailed) return error.code
  process.stderr.write(complaints([reasonOf(error)]))
  return 1
}

function reasonOf(error: unknown): string {
  if (error instanceof ServerUnreachable) return error.message
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  // Another program took it after the check.
  if (code === 'EADDRINUSE')
    return 'PORT, RESOLVER_PORT or ADMIN_PORT is in use by another program (set another, or 0 for a free one)'
  if (error instanceof Error && 'path' in error && 'syscall' in error)
    return `DATA_DIR: the data directory cannot be written: ${explainUnwritable(code) ?? 'check the path'}, at ${error.path} (${code})`
  if (/^E?CONN|^CONNECT/.test(code))
    return `the database cannot be reached (${code}): check DB_HOST and DB_PORT`
  if (code === '25006')
    return 'the database is read-only (25006) and needs a migration: free at least 96 MiB of disk for the embedded database, or connect to the PostgreSQL primary'
  if (code === '42501' && error instanceof Error)
    return `DB_USER lacks a privilege: ${error.message.replace(/[\p{Cc}\p{Cf}]/gu, ' ')} (docs/guides/database-users.md; after an upgrade, run postgresql_roles.sql again)`
  const { error: name, cause, at } = describeError(error)
  const message = error instanceof Error ? error.message : ''
  return `could not start: ${message} (${[name, cause, code].filter(Boolean).join(', ')}) at ${at}`
}
