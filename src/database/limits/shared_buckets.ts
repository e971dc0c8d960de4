/**
 * Token buckets in PostgreSQL, shared by all processes: one statement per draw, by the database's clock. A row has the
 * time at which its bucket is full again; after that it is obsolete and deleted.
 */
import { type SQL, sql } from 'drizzle-orm'
import { withTimeout } from '../../core/async/timeout.ts'
import type { Clock } from '../../core/clock.ts'
import type { Rate } from '../../core/config/config.ts'
import { Fault } from '../../core/fault.ts'
import type { Reading } from '../open.ts'

/** Above this number of rows, the buckets that are full soonest are deleted, which only makes limits more lenient. */
export const MAX_ROWS = 100_000
/** Rows that one process adds before it looks. */
const SWEEP_AFTER_ROWS = 10_000
const TIMEOUT_MS = 5_000

/** The resolver's database user writes `token_rates` and not the other one, which has the buckets of people. */
export type BucketTable = 'rate_limits' | 'token_rates'

/** `got` is the number granted, at most the number requested; `lacks` the seconds until the bucket is full. */
export type Draw = { got: number; lacks: number }

type Row = { got: number; lacks: number; added: boolean }

export class SharedBuckets {
  readonly #db: Reading
  readonly #clock: Clock
  readonly #table: SQL
  readonly #maySweep: boolean
  #added = 0

  constructor(db: Reading, clock: Clock, table: BucketTable = 'rate_limits') {
    this.#db = db
    this.#table = sql.identifier(table).getSQL()
    this.#maySweep = table === 'rate_limits'
    this.#clock = clock
  }

  /** Takes up to `most` tokens. @throws Fault `unavailable` if the database takes too long, and the driver's errors */
  async draw(key: string, { count, seconds }: Rate, most = 1, db = this.#db): Promise<Draw> {
    const each = seconds / count
    const now = sql`(excluded.full_at - ${most * each}::float8)`
    // Further ahead than an empty bucket can be: the clock was set back, which must not block requests.
    const full = sql`case when b.full_at > ${now} + ${seconds + each}::float8 then ${now}
      else greatest(b.full_at, ${now}) end`
    const room = sql`${seconds + each / 2}::float8 - (${full} - ${now})`
    const free = sql`least(${most}::int, floor((${room}) / ${each}::float8)::int)`
    const query = db.execute<Row>(sql`
      with n as materialized (select ${this.#selectNow()} as now), drawn as (
        insert into ${this.#table} as b (key, full_at, taken)
          select decode(${key}, 'hex'), now + ${most * each}::float8, ${most}::int from n
        on conflict (key) do update set
          full_at = ${full} + ${each}::float8 * ${free}, taken = ${free}
        where ${free} >= 1
        returning taken, full_at, xmax = 0 as added)
      select taken as got, greatest(full_at - now, 0) as lacks, added from drawn, n
      union all
      select 0, greatest(b.full_at - n.now, 0), false from ${this.#table} b, n
      where b.key = decode(${key}, 'hex') and not exists (select from drawn)`)
    const buildLateFault = () => new Fault('unavailable')
    const [row] = await withTimeout(TIMEOUT_MS, query, buildLateFault)
    if (row?.added && ++this.#added >= SWEEP_AFTER_ROWS && this.#maySweep) await this.sweep()
    // Without a row another process has just made it, and taken all.
    return row ?? { got: 0, lacks: seconds }
  }

  /** Removes rows that no longer count, and rows over the bound. */
  async sweep(): Promise<void> {
    this.#added = 0
    await this.#db.execute(sql`delete from ${this.#table} where full_at <= ${this.#selectNow()}`)
    await this.#db.execute(sql`delete from ${this.#table} where key in (
      select key from ${this.#table} order by full_at desc offset ${MAX_ROWS})`)
  }

  /** Differs from the database's clock in tests only, where time is moved. */
  #selectNow(): SQL {
    const moved = (this.#clock.now() - Date.now()) / 1000
    return sql`extract(epoch from clock_timestamp())::float8 + ${moved}::float8`
  }
}
