/**
 * The limits of tokens (protocol 6.3), shared by all processes. A call is counted right before it is sent. Bytes and
 * model tokens are known later: each process adds them when a call ends, and every few seconds while it runs.
 */
import type { PendingTimer, Timers } from '../../core/async/timers.ts'
import type { Clock } from '../../core/clock.ts'
import type { Config } from '../../core/config/config.ts'
import { Fault } from '../../core/fault.ts'
import { describeError, type Log } from '../../core/log.ts'
import { LruMap } from '../../core/lru.ts'
import type { TokenLimits } from '../../core/token_limits.ts'
import { openRate, type SharedLimiter } from '../../database/limits/shared_rate.ts'
import { type DaySums, TokenSpendingStore } from '../../database/limits/token_spending.ts'
import type { Database } from '../../database/open.ts'
import { budgetReached, buildOverMinuteFault, isReached } from './limit_faults.ts'

/** A token that has limits. */
export type LimitedToken = { id: string; limits: TokenLimits }

type Options = { db: Database; config: Config; clock: Clock; timers: Timers; log: Log }

/** Milliseconds between two flushes of calls that run, a third of their lease. */
const FLUSH_MS = 10_000
/** Milliseconds after which a call without a free slot tries again, once. */
const RETRY_MS = 100
const MAX_TOKENS = 10_000

type Sum = { bytes: number; modelTokens: number }
type Ends = { end(): Promise<void>; over(spent: Sum): void }

export class CallLimits {
  readonly #options: Options
  readonly #store: TokenSpendingStore
  readonly #minutes = new LruMap<string, SharedLimiter>({ max: MAX_TOKENS })
  readonly #running = new Map<string, CountedCall>()
  readonly #ended = new Set<string>()
  /** Usage that is not yet in the database, by token id. */
  #unwritten = new Map<string, Sum>()
  #flushing: Promise<void> | null = null
  #timer: PendingTimer | null = null

  constructor(options: Options) {
    this.#options = options
    this.#store = new TokenSpendingStore(options.db, options.clock)
  }

  /** Counts a call towards the token's limit per minute. @throws Fault `budget_exceeded`, `unavailable` */
  async takeMinute({ id, limits }: LimitedToken): Promise<void> {
    const { calls_per_minute: count } = limits
    // A signed workspace's row is not verified yet, and may hold anything.
    if (!Number.isSafeInteger(count) || count === null || count < 1) return
    try {
      await this.#minuteOf(id, count).take(id)
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== 'rate_limited') throw error
      throw buildOverMinuteFault(limits, Number(error.headers['retry-after'] ?? 1))
    }
  }

  #minuteOf(id: string, count: number): SharedLimiter {
    const known = this.#minutes.get(id)
    if (known) return known
    const limiter = openRate(this.#options, 'token_minute', { count, seconds: 60 }, 'token_rates')
    this.#minutes.set(id, limiter)
    return limiter
  }

  /**
   * Counts a call that is about to be sent, with `bytes` of its body.
   *
   * @throws Fault `budget_exceeded`, `unavailable`, and the driver's errors
   */
  async begin(
    { id, limits }: LimitedToken,
    { bytes, onOver }: { bytes: number; onOver(fault: Fault): void },
  ): Promise<CountedCall> {
    const { clock, timers } = this.#options
    const callId = Bun.randomUUIDv7()
    const starting = { callId, tokenId: id, limits, bytes }
    // A sequential caller's next call must not be refused because its previous one still counts.
    if (this.#flushing || this.#unwritten.has(id)) await this.#flush().catch(() => {})
    let sums = await this.#store.begin(starting)
    if (!sums.granted && isReached(limits.concurrent_calls, sums.running)) {
      // Another process may be about to store the end of a call.
      await timers.sleep(RETRY_MS)
      sums = await this.#store.begin(starting)
    }
    const faultOf = (reached: DaySums) =>
      budgetReached(limits, reached, { bytes, now: clock.now() })
    if (!sums.granted) throw faultOf(sums)
    const call = new CountedCall({ id, limits }, sums, {
      end: () => this.#end(callId),
      over: (spent) => onOver(faultOf({ calls: 0, running: 0, ...spent })),
    })
    this.#running.set(callId, call)
    this.#timer ??= this.#options.timers.setRepeating(
      FLUSH_MS,
      () => void this.#flushLogged({ isBeat: true }),
    )
    return call
  }

  /** Writes the remaining usage. Calls that still run count until their lease ends. */
  async close(): Promise<void> {
    this.#timer?.cancel()
    await this.#flushLogged()
  }

  async #end(callId: string): Promise<void> {
    const call = this.#running.get(callId)
    if (!call) return
    this.#collect(call)
    this.#running.delete(callId)
    this.#ended.add(callId)
    await this.#flushLogged()
  }

  #collect(call: CountedCall): void {
    const { bytes, modelTokens } = call.takeUnwritten()
    if (bytes === 0 && modelTokens === 0) return
    this.#add(call.token.id, { bytes, modelTokens })
  }

  #add(tokenId: string, { bytes, modelTokens }: Sum): void {
    const sum = this.#unwritten.get(tokenId) ?? { bytes: 0, modelTokens: 0 }
    this.#unwritten.set(tokenId, {
      bytes: sum.bytes + bytes,
      modelTokens: sum.modelTokens + modelTokens,
    })
  }

  /** One flush at a time. A call that ends during a flush is part of the next one. */
  async #flush({ isBeat = false } = {}): Promise<void> {
    while (this.#flushing) await this.#flushing.catch(() => {})
    for (const call of this.#running.values()) this.#collect(call)
    const spent = this.#unwritten
    const ended = [...this.#ended]
    const running = isBeat ? [...this.#running.keys()] : []
    if (spent.size === 0 && ended.length === 0 && running.length === 0) return
    this.#unwritten = new Map()
    const rows = [...spent].map(([tokenId, sum]) => ({ tokenId, ...sum }))
    this.#flushing = this.#store.flush({ spent: rows, ended, running }).then(
      (sums) => {
        for (const id of ended) this.#ended.delete(id)
        for (const call of this.#running.values()) call.learn(sums.get(call.token.id))
      },
      (error) => {
        for (const [id, sum] of spent) this.#add(id, sum)
        throw error
      },
    )
    try {
      await this.#flushing
    } finally {
      this.#flushing = null
    }
  }

  async #flushLogged(options = {}): Promise<void> {
    try {
      await this.#flush(options)
    } catch (error) {
      this.#options.log.warning('token usage could not be stored', describeError(error))
    }
  }
}

/** A counted call. */
export class CountedCall {
  readonly token: LimitedToken
  readonly #on: Ends
  #sums: Sum
  #unwritten: Sum = { bytes: 0, modelTokens: 0 }
  /** Whether it used model tokens while it runs, as a WebSocket does. */
  #isSpending = false

  constructor(token: LimitedToken, { bytes, modelTokens }: DaySums, on: Ends) {
    this.token = token
    this.#sums = { bytes, modelTokens }
    this.#on = on
  }

  /** Ends the call if the daily bytes already exceeded the limit. */
  addBytes(bytes: number): void {
    const { bytes_per_day } = this.token.limits
    if (bytes_per_day !== null && this.#sums.bytes > bytes_per_day) this.#on.over(this.#sums)
    this.#sums.bytes += bytes
    this.#unwritten.bytes += bytes
  }

  addModelTokens(modelTokens: number): void {
    this.#unwritten.modelTokens += modelTokens
    this.#isSpending = true
  }

  /** Resolves when other processes can see the call's usage. */
  end(): Promise<void> {
    return this.#on.end()
  }

  takeUnwritten(): Sum {
    const unwritten = this.#unwritten
    this.#unwritten = { bytes: 0, modelTokens: 0 }
    return unwritten
  }

  /** Sets the usage of all processes. */
  learn(sums: DaySums | undefined): void {
    if (!sums) return
    this.#sums = { bytes: sums.bytes + this.#unwritten.bytes, modelTokens: sums.modelTokens }
    if (this.#isSpending && isReached(this.token.limits.model_tokens_per_day, sums.modelTokens))
      this.#on.over(sums)
  }
}
