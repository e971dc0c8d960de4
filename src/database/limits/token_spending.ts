/**
 * Usage and running calls of limited tokens (protocol 6.3), shared by all processes. A day is a UTC day. A running call
 * holds a lease, so calls of a killed process stop counting by themselves.
 */
import { type SQL, sql } from 'drizzle-orm'
import { withTimeout } from '../../core/async/timeout.ts'
import type { Clock } from '../../core/clock.ts'
import { Fault } from '../../core/fault.ts'
import type { TokenLimits } from '../../core/token_limits.ts'
import type { Reading } from '../open.ts'

const LEASE_SECONDS = 30
/** Days for which usage is kept. */
const KEPT_DAYS = 35
const TIMEOUT_MS = 5_000
/** First half of the key of the advisory lock. The second half is a hash of the token's id. */
const CALLS = 6_021_031
const NO_LIMIT = Number.MAX_SAFE_INTEGER

/** Sums of a token's current day, with its running calls. */
export type DaySums = { calls: number; bytes: number; modelTokens: number; running: number }

/** A call to be sent. */
export type StartingCall = {
  callId: string
  tokenId: string
  limits: TokenLimits
  /** Known bytes of the request's body. */
  bytes: number
}

/** Changes that a process collected since its last flush. */
export type Flush = {
  spent: readonly { tokenId: string; bytes: number; modelTokens: number }[]
  ended: readonly string[]
  running: readonly string[]
}

export class TokenSpendingStore {
  readonly #db: Reading
  readonly #clock: Clock

  constructor(db: Reading, clock: Clock) {
    this.#db = db
    this.#clock = clock
  }

  /**
   * Counts a call if no limit is reached, and otherwise changes nothing. `granted` is whether it was counted.
   *
   * @throws Fault `unavailable` when the database takes too long, and the driver's errors
   */
  async begin(call: StartingCall): Promise<DaySums & { granted: boolean }> {
    const counting = this.#db.transaction(async (tx) => {
      const locking =
        call.limits.concurrent_calls !== null &&
        tx.execute(sql`select pg_advisory_xact_lock(${CALLS}::int, hashtext(${call.tokenId}))`)
      // A count after the lock includes the calls that others counted with it.
      const [, [row]] = await Promise.all([locking, tx.execute<DaySums>(this.#buildCounting(call))])
      if (row) return { ...row, granted: true }
      // A second statement sees the changes that the first one waited for.
      const [reached] = await tx.execute<DaySums>(this.#buildReading(call.tokenId))
      if (!reached) throw new Fault('unavailable')
      return { ...reached, granted: false }
    })
    return await withTimeout(TIMEOUT_MS, counting, () => new Fault('unavailable'))
  }

  /** Returns the new sums of the tokens in `spent`, by token id. @throws like `begin` */
  async flush({ spent, ended, running }: Flush): Promise<Map<string, DaySums>> {
    const writing = this.#db.transaction(async (tx) => {
      const statements = [
        spent.length > 0 ? tx.execute<DaySums & { id: string }>(this.#buildAdding(spent)) : [],
        ended.length > 0 &&
          tx.execute(sql`delete from token_calls where call_id in ${toIdList(ended)}`),
        running.length > 0 &&
          tx.execute(sql`update token_calls set until = greatest(until, ${this.#selectNow()} + ${LEASE})
            where call_id in ${toIdList(running)}`),
      ] as const
      const [rows] = await Promise.all(statements)
      return new Map(rows.map(({ id, ...sums }) => [id, sums]))
    })
    return await withTimeout(TIMEOUT_MS, writing, () => new Fault('unavailable'))
  }

  /** Deletes calls whose lease ended. */
  async sweepCalls(): Promise<void> {
    await this.#db.transaction((tx) =>
      tx.execute(sql`delete from token_calls where until < ${this.#selectNow()}`),
    )
  }

  /** Deletes old days, and those of revoked or deleted tokens. */
  async sweepDays(): Promise<void> {
    await this.#db.transaction((tx) =>
      tx.execute(sql`delete from token_days d
        where day < (${this.#selectNow()} at time zone 'utc')::date - ${KEPT_DAYS}::int
          or not exists (select from tokens t where t.id = d.token_id and t.revoked_at is null)`),
    )
  }

  #buildCounting({ callId, tokenId, limits, bytes }: StartingCall): SQL {
    const [calls, concurrent, most, modelTokens] = [
      limits.calls_per_day,
      limits.concurrent_calls,
      limits.bytes_per_day,
      limits.model_tokens_per_day,
    ].map((limit) => sql`${limit ?? NO_LIMIT}::bigint`) as [SQL, SQL, SQL, SQL]
    const added = sql`${bytes}::bigint`
    return sql`
      with n as materialized (select ${this.#selectNow()} as now),
      held as materialized (select count(*) as running from token_calls c, n
        where c.token_id = ${tokenId} and c.until > n.now),
      counted as (
        insert into token_days as d (token_id, day, calls, bytes)
          select ${tokenId}::uuid, (n.now at time zone 'utc')::date, 1, ${added} from n, held
          where held.running < ${concurrent} and ${added} <= ${most}
        on conflict (token_id, day) do update set calls = d.calls + 1, bytes = d.bytes + ${added}
          where d.calls < ${calls} and d.bytes < ${most} and d.bytes + ${added} <= ${most}
            and d.model_tokens < ${modelTokens}
        returning calls, bytes, model_tokens),
      started as (
        insert into token_calls (call_id, token_id, until)
          select ${callId}::uuid, ${tokenId}::uuid, n.now + ${LEASE} from n, counted)
      select ${SUMS}, held.running::float8 as running from counted as d, held`
  }

  #buildReading(tokenId: string): SQL {
    return sql`
      with n as materialized (select ${this.#selectNow()} as now)
      select ${SUMS}, (select count(*)::float8 from token_calls c
        where c.token_id = ${tokenId} and c.until > n.now) as running
      from n left join token_days d
        on d.token_id = ${tokenId} and d.day = (n.now at time zone 'utc')::date`
  }

  /** In ID order, so that processes cannot deadlock. */
  #buildAdding(spent: Flush['spent']): SQL {
    const rows = JSON.stringify(spent)
    return sql`
      insert into token_days as d (token_id, day, bytes, model_tokens)
        select "tokenId", (${this.#selectNow()} at time zone 'utc')::date, bytes, "modelTokens"
        from json_to_recordset(${rows}::text::json) as s ("tokenId" uuid, bytes bigint, "modelTokens" bigint)
        order by 1
      on conflict (token_id, day) do update
        set bytes = d.bytes + excluded.bytes, model_tokens = d.model_tokens + excluded.model_tokens
      returning d.token_id as id, ${SUMS}, 0::float8 as running`
  }

  /** Differs from the database's clock in tests only, where time is moved. */
  #selectNow(): SQL {
    const moved = (this.#clock.now() - Date.now()) / 1000
    return sql`(clock_timestamp() + make_interval(secs => ${moved}::float8))`
  }
}

const LEASE = sql`make_interval(secs => ${LEASE_SECONDS}::int)`
const SUMS = sql`coalesce(d.calls, 0)::float8 as calls, coalesce(d.bytes, 0)::float8 as bytes,
  coalesce(d.model_tokens, 0)::float8 as "modelTokens"`

function toIdList(ids: readonly string[]): SQL {
  return sql`(select json_array_elements_text(${JSON.stringify(ids)}::text::json)::uuid)`
}
