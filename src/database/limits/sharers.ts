/**
 * Counts running processes, which share the limits that each process counts. On PostgreSQL, each process reports every
 * five seconds, and counts the others with the same statement. Requests do not wait for it.
 */
import { randomUUID } from 'node:crypto'
import { Cron } from 'croner'
import { sql } from 'drizzle-orm'
import { withTimeout } from '../../core/async/timeout.ts'
import type { Config } from '../../core/config/config.ts'
import { Fault } from '../../core/fault.ts'
import { describeError, type Log } from '../../core/log.ts'
import type { Reading } from '../open.ts'

const EVERY_FIVE_SECONDS = '*/5 * * * * *'
/** Seconds after which a process that no longer reports counts as ended. */
const GONE_SECONDS = 15
const TIMEOUT_MS = 4_000

/** The processes that share a limit, this one among them. */
export type Sharers = { readonly count: number }

export const ALONE: Sharers = { count: 1 }

/** Returns this process's share of a limit, at least 1. */
export function shareOf(limit: number, sharers: Sharers): number {
  return Math.ceil(limit / sharers.count)
}

export type LiveProcesses = {
  /** Control planes, for RATE_API. */
  readonly controlPlanes: Sharers
  /** Processes that share the limits of tokens: resolvers, or the control planes if there is no resolver. */
  readonly resolvers: Sharers
  beat(): Promise<void>
  end(): Promise<void>
}

/** For the embedded database, which has one process. */
export const SINGLE_PROCESS: LiveProcesses = {
  controlPlanes: ALONE,
  resolvers: ALONE,
  beat: async () => {},
  end: async () => {},
}

type Surroundings = { db: Reading; config: Pick<Config, 'DB_HOST' | 'ROLE' | 'WORKERS'> }

/** Announces this process before it serves. @throws the driver's errors */
export async function openLiveProcesses({ db, config }: Surroundings): Promise<LiveProcesses> {
  if (config.DB_HOST === undefined) return SINGLE_PROCESS
  const { ROLE, WORKERS } = config
  const controlPlane = ROLE === 'resolver' ? null : new Heartbeat(db, false, WORKERS)
  const resolver = ROLE === 'control-plane' ? null : new Heartbeat(db, true, WORKERS)
  const all = [controlPlane, resolver].filter((heart) => heart !== null)
  const beat = async () => {
    const beats = await Promise.allSettled(all.map((heart) => heart.beat()))
    // The next one begins after all of these.
    for (const beat of beats) if (beat.status === 'rejected') throw beat.reason
  }
  // Processes that start simultaneously announce themselves with the first beat and find each other with the second.
  await beat()
  await beat()
  return {
    controlPlanes: controlPlane ?? resolver ?? ALONE,
    resolvers: resolver ?? controlPlane ?? ALONE,
    beat,
    end: async () => {
      await Promise.allSettled(all.map((heart) => heart.end()))
    },
  }
}

/** Without the database the last count stays. */
export function scheduleBeats({ live, log }: { live: LiveProcesses; log: Log }): { stop(): void } {
  let isFailing = false
  return new Cron(EVERY_FIVE_SECONDS, { protect: true, unref: true }, async () => {
    try {
      await live.beat()
      isFailing = false
    } catch (error) {
      // Log it once, until the count succeeds again.
      if (!isFailing) log.warning('running processes could not be counted', describeError(error))
      isFailing = true
    }
  })
}

/** A process in one role, and the number of processes in it: until the first count, the machine's workers. */
class Heartbeat implements Sharers {
  readonly #id = randomUUID()
  readonly #db: Reading
  readonly #resolves: boolean
  readonly #workers: number
  count: number
  #seen = 1
  #said: Promise<{ others: number }[]> | undefined

  constructor(db: Reading, resolves: boolean, workers: number) {
    this.#db = db
    this.#resolves = resolves
    this.#workers = workers
    this.count = workers
  }

  async beat(): Promise<void> {
    // One statement at a time: a stalled database must not collect them.
    this.#said ??= this.#say().finally(() => {
      this.#said = undefined
    })
    const [row] = await withTimeout(TIMEOUT_MS, this.#said, () => new Fault('unavailable'))
    const seen = 1 + (row?.others ?? 0)
    // Use two counts: after a crash that emptied the table, the first may miss processes that have not reported yet.
    this.count = Math.max(this.#workers, this.#seen, seen)
    this.#seen = seen
  }

  async #say(): Promise<{ others: number }[]> {
    return await this.#db.execute<{ others: number }>(sql`
      with said as (
        insert into live_processes (id, resolves, seen_at) values (${this.#id}, ${this.#resolves}, clock_timestamp())
        on conflict (id) do update set seen_at = excluded.seen_at)
      select count(*)::int as others from live_processes where resolves = ${this.#resolves} and id <> ${this.#id}
        and seen_at > clock_timestamp() - make_interval(secs => ${GONE_SECONDS}::int)`)
  }

  /** The resolver's user may not delete: the row is swept. */
  async end(): Promise<void> {
    const query = this.#db.execute(
      sql`update live_processes set seen_at = '-infinity' where id = ${this.#id}`,
    )
    await withTimeout(TIMEOUT_MS, query, () => new Fault('unavailable'))
  }
}

/** Forgets processes that ended, and rows that no process can have written. */
export async function sweepProcesses(db: Reading): Promise<void> {
  await db.execute(sql`delete from live_processes
    where seen_at not between now() - interval '1 minute' and now() + interval '1 minute'`)
}
