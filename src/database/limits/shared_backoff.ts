/**
 * Backoff after repeated failures, shared by all processes on one PostgreSQL. An attempt counts as failed before it is
 * checked, so that parallel attempts gain no advantage.
 */
import { type SQL, sql } from 'drizzle-orm'
import { withTimeout } from '../../core/async/timeout.ts'
import type { Clock } from '../../core/clock.ts'
import type { Config } from '../../core/config/config.ts'
import { Fault } from '../../core/fault.ts'
import type { Reading } from '../open.ts'
import {
  Backoff,
  buildWaitingFault,
  FREE_FAILURES,
  MAX_WAIT_SECONDS,
  type Waits,
} from './backoff.ts'
import { openKeys } from './keys.ts'

const TIMEOUT_MS = 5_000
/** Rows, and days that one is kept: then its failures are forgotten. */
const MAX_ROWS = 100_000
const KEPT_DAYS = 1

export function openBackoff(services: { db: Reading; config: Config; clock: Clock }): Waits {
  if (services.config.DB_HOST === undefined) return new Backoff(services.clock)
  return new SharedBackoff(services)
}

class SharedBackoff implements Waits {
  readonly #db: Reading
  readonly #clock: Clock
  readonly #keyOf: (key: string) => string

  constructor({ db, config, clock }: { db: Reading; config: Config; clock: Clock }) {
    this.#db = db
    this.#clock = clock
    const keyOf = openKeys(config.SECRET_KEY)
    this.#keyOf = (key) => keyOf('attempts', key)
  }

  async check(key: string): Promise<void> {
    const now = this.#selectNow()
    const count = sql`(f.count + 1)`
    const wait = sql`case when ${count} < ${FREE_FAILURES} then 0
      else least(${MAX_WAIT_SECONDS}::float8, 2 ^ least(${count} - ${FREE_FAILURES}, 20)) end`
    const query = this.#db.execute<{ waits: number | null }>(sql`
      with counted as (
        insert into failed_attempts as f (key, count, until) values (${this.#hashName(key)}, 1, ${now})
        on conflict (key) do update set count = ${count},
          until = excluded.until + make_interval(secs => ${wait})
        where f.until not between excluded.until + interval '1 microsecond'
          and excluded.until + make_interval(secs => ${MAX_WAIT_SECONDS})
        returning 1)
      select null::float8 as waits from counted
      union all
      select extract(epoch from until - ${now})::float8 from failed_attempts
      where key = ${this.#hashName(key)} and not exists (select from counted)`)
    const [row] = await withTimeout(TIMEOUT_MS, query, () => new Fault('unavailable'))
    // Without a row another process has just counted the first.
    if (row?.waits !== null) throw buildWaitingFault(Math.max(row?.waits ?? 0, 0.001))
  }

  recordFailure(): void {}

  async recordSuccess(key: string): Promise<void> {
    await this.#write(sql`delete from failed_attempts where key = ${this.#hashName(key)}`)
  }

  /** Takes the attempt back. It stays counted if the update fails. */
  async releaseAttempt(key: string): Promise<void> {
    const back = sql`update failed_attempts set count = greatest(count - 1, 0), until = ${this.#selectNow()}
      where key = ${this.#hashName(key)}`
    await this.#write(back).catch(() => {})
  }

  /** Writes in a transaction: a late write must not forgive later failures. */
  async #write(statement: SQL): Promise<void> {
    await this.#db.transaction((tx) => tx.execute(statement))
  }

  #hashName(key: string) {
    return sql`decode(${this.#keyOf(key)}, 'hex')`
  }

  /** Differs from the database's clock in tests only, where time is moved. */
  #selectNow() {
    const moved = (this.#clock.now() - Date.now()) / 1000
    return sql`(clock_timestamp() + make_interval(secs => ${moved}::float8))`
  }
}

/** Deletes old rows, and the rows with the earliest end above the limit. */
export async function sweepAttempts(db: Reading): Promise<void> {
  await db.execute(
    sql`delete from failed_attempts where until < now() - make_interval(days => ${KEPT_DAYS}::int)`,
  )
  await db.execute(sql`delete from failed_attempts where key in (
    select key from failed_attempts order by until desc offset ${MAX_ROWS})`)
}
