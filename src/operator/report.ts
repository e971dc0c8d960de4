/**
 * Reports a process's state on SIGUSR1 for operators: names, counts and times, and no secret. Size and number of
 * reports are bounded, and a failure is only one line in the log.
 */
import {
  chmodSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { version } from '../../package.json'
import { withTimeout } from '../core/async/timeout.ts'
import { type Config, showConfig } from '../core/config/config.ts'
import { parseOuterKeys } from '../core/crypto/outer_keys.ts'
import { Pepper } from '../core/crypto/pepper.ts'
import { describeError, type Log } from '../core/log.ts'
import type { Connection } from '../database/open.ts'

/** The subjects of a report: `figures` are counts of the application's parts, `problems` lines of its log. */
export type Reported = {
  config: Config
  connection: Connection
  figures(): object
  problems(): readonly string[]
  log: Log
}

const INTERVAL_MS = 10_000
/** Reports that each process keeps. */
const KEPT = 5
const MAX_BYTES = 262_144
const TIMEOUT_MS = 2_000
/** Milliseconds for which the lag of the event loop is watched. */
const WATCHED_MS = 200
const MAX_NAMES = 500
const FILE = /^cloakroom-report-\d+-\d+\.json$/

/** Writes a report for each signal, at most one per ten seconds. */
export function reportOnSignal(reported: Reported): void {
  let last = Number.NEGATIVE_INFINITY
  process.on('SIGUSR1', () => {
    const now = performance.now()
    if (now - last < INTERVAL_MS) return
    last = now
    void writeReport(reported)
  })
}

/** Returns the path, or `null` if it could not be written. */
export async function writeReport(reported: Reported): Promise<string | null> {
  const { config, connection, log } = reported
  try {
    const isOwn = connection.kind === 'embedded' && existsSync(config.DATA_DIR)
    const directory = isOwn ? config.DATA_DIR : tmpdir()
    const path = join(directory, `cloakroom-report-${Date.now()}-${process.pid}.json`)
    const text = textOf(await describe(reported))
    // Never an existing file: in a shared folder it may be another user's link.
    writeWhole(path, text)
    removeOld(directory, KEPT * config.WORKERS)
    log.info('an error report was written', { path })
    return path
  } catch (error) {
    log.warning('an error report could not be written', describeError(error))
    return null
  }
}

/** On a full disk, the partial file is removed. */
function writeWhole(path: string, text: string): void {
  writeFileSync(path, '', { flag: 'wx', mode: 0o600 })
  try {
    chmodSync(path, 0o600)
    writeFileSync(path, text)
  } catch (error) {
    rmSync(path, { force: true })
    throw error
  }
}

/** Removes this user's old reports from a folder that others may share. Their names begin with the time. */
function removeOld(directory: string, kept: number): void {
  const found = readdirSync(directory)
    .filter((name) => FILE.test(name))
    .map((name) => join(directory, name))
    .filter((path) => lstatSync(path, { throwIfNoEntry: false })?.uid === process.getuid?.())
  for (const path of found.sort().slice(0, -kept)) rmSync(path, { force: true })
}

function textOf(described: object): string {
  const text = `${JSON.stringify(described, null, 2)}\n`
  if (Buffer.byteLength(text) <= MAX_BYTES) return text
  // Only names of variables and lines of the log can be so long.
  return `${JSON.stringify({ ...described, environment: 'too long', problems: 'too long' }, null, 2)}\n`
}

async function describe({ config, connection, figures, problems }: Reported): Promise<object> {
  return {
    version,
    runtime: `bun ${Bun.version}`,
    platform: `${process.platform} ${process.arch}`,
    pid: process.pid,
    at: new Date().toISOString(),
    uptime_seconds: Math.round(process.uptime()),
    settings: showConfig(config),
    environment: Object.keys(process.env).sort().slice(0, MAX_NAMES),
    memory: process.memoryUsage(),
    processor_microseconds: process.cpuUsage(),
    event_loop_lag_ms: await lagOfLoop(),
    open_files: openFiles(),
    limits: limitsOf(),
    keys: {
      SECRET_KEY: Pepper.parse(config.SECRET_KEY).keyIds,
      ENCRYPTION_KEY: parseOuterKeys(config.ENCRYPTION_KEY).map(({ id }) => id),
    },
    database: await describeDatabase(connection),
    ...figures(),
    problems: problems(),
  }
}

async function lagOfLoop(): Promise<object> {
  const delay = monitorEventLoopDelay({ resolution: 10 })
  delay.enable()
  await Bun.sleep(WATCHED_MS)
  delay.disable()
  const toMilliseconds = (nanoseconds: number) => Math.round(nanoseconds / 1e4) / 100
  return {
    mean: toMilliseconds(delay.mean),
    max: toMilliseconds(delay.max),
    watched_ms: WATCHED_MS,
  }
}

/** Counts open files by kind, if the system lists them. It does not list a socket's peer. */
function openFiles(): Record<string, number> | null {
  try {
    const counts: Record<string, number> = {}
    for (const name of readdirSync('/proc/self/fd')) {
      const kind = kindOf(name)
      counts[kind] = (counts[kind] ?? 0) + 1
    }
    return counts
  } catch {
    return null
  }
}

function kindOf(descriptor: string): string {
  try {
    const target = readlinkSync(join('/proc/self/fd', descriptor))
    return /^(socket|pipe|anon_inode)\b/.exec(target)?.[1] ?? 'file'
  } catch {
    return 'closed meanwhile'
  }
}

/** Returns `null` if the system does not provide limits. */
function limitsOf(): string[] | null {
  try {
    const lines = readFileSync('/proc/self/limits', 'utf8').trim().split('\n')
    return lines.map((line) => line.replace(/ {2,}/g, '  ').trim())
  } catch {
    return null
  }
}

async function describeDatabase({ kind, sql }: Connection): Promise<object> {
  const buildLateError = () => new Error('the database took too long')
  const askWithTimeout = async <T>(query: PromiseLike<T>) =>
    await withTimeout(TIMEOUT_MS, query, buildLateError).catch((error) => describeError(error))
  const startedAt = performance.now()
  const connections = await askWithTimeout(sql`
    select coalesce(state, 'unknown') as state, count(*)::int as count from pg_stat_activity
    where datname = current_database() group by 1 order by 1`)
  const ping_ms = Math.round(performance.now() - startedAt)
  const migrations = await askWithTimeout(
    sql`select name from cloakroom_migrations order by name`.values(),
  )
  return {
    kind,
    ping_ms,
    connections,
    migrations: Array.isArray(migrations) ? migrations.flat() : migrations,
  }
}
