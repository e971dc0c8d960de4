/**
 * Tracks active people of today, without a write per request: each process remembers the people it has recorded already
 * and writes the new ones together. A crash only delays the record to the next request.
 */
import { endsWithin } from '../../core/async/timeout.ts'
import type { Clock } from '../../core/clock.ts'
import { describeError, type Log } from '../../core/log.ts'
import type { Database } from '../../database/open.ts'
import { userActivity } from '../../database/schema/index.ts'
import type { IdentityService } from '../../http/route.ts'
import { dayOf, endOfDay } from './days.ts'

const FLUSH_MS = 5_000
/** People remembered at most; beyond that they are noted twice, which changes nothing. */
const MAX_SEEN = 100_000
/** Rows of one statement. */
const BATCH = 5_000

export class ActivityLog {
  readonly #db: Database
  readonly #clock: Clock
  readonly #log: Log
  #day = ''
  #endsAt = 0
  readonly #seen = new Set<string>()
  #waiting: { day: string; userId: string }[] = []
  #flushing: Promise<void> = Promise.resolve()
  readonly #timer: Timer

  constructor({ db, clock, log }: { db: Database; clock: Clock; log: Log }) {
    this.#db = db
    this.#clock = clock
    this.#log = log
    this.#timer = setInterval(() => void this.flush(), FLUSH_MS)
    this.#timer.unref()
  }

  /** Notes that a person was authenticated. Costs one look-up in a set. */
  stamp(userId: string): void {
    const now = this.#clock.now()
    if (now >= this.#endsAt || this.#seen.size >= MAX_SEEN) this.#begin(now)
    if (this.#seen.has(userId)) return
    this.#seen.add(userId)
    if (this.#waiting.length < MAX_SEEN) this.#waiting.push({ day: this.#day, userId })
  }

  /** Writes pending records. Failed writes are retried. */
  flush(): Promise<void> {
    this.#flushing = this.#flushing.then(() => this.#write())
    return this.#flushing
  }

  /** Writes the last ones; not for longer than `timeoutMs`. */
  async close(timeoutMs: number): Promise<void> {
    clearInterval(this.#timer)
    await endsWithin(timeoutMs, this.flush())
  }

  #begin(now: number): void {
    this.#day = dayOf(now)
    this.#endsAt = endOfDay(this.#day)
    this.#seen.clear()
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const rows = this.#waiting.splice(0, BATCH)
      try {
        await this.#db.insert(userActivity).values(rows).onConflictDoNothing()
      } catch (error) {
        this.#waiting.unshift(...rows)
        this.#log.warning('user activity is delayed', {
          people: rows.length,
          ...describeError(error),
        })
        return
      }
    }
  }
}

/** Everybody who proves who they are is active today. */
export function withActivityStamps(
  identity: IdentityService,
  activity: ActivityLog,
): IdentityService {
  return {
    ...identity,
    authenticate: async (headers) => {
      const caller = await identity.authenticate(headers)
      activity.stamp(caller.userId)
      return caller
    },
    recall: (...given) => {
      const recalled = identity.recall(...given)
      const holds = async () => {
        const isHolding = await recalled?.holds()
        if (isHolding && recalled) activity.stamp(recalled.caller.userId)
        return isHolding === true
      }
      return recalled && { ...recalled, holds }
    },
  }
}
