/** Growing waits after failures in a row. State lives in this process and is bounded. */
import type { Clock } from '../../core/clock.ts'
import { Fault } from '../../core/fault.ts'
import { LruMap } from '../../core/lru.ts'

const MAX_KEYS = 100_000
export const FREE_FAILURES = 5
export const MAX_WAIT_SECONDS = 300

/** Called before and after each attempt. */
export type Waits = {
  /** @throws Fault `rate_limited` while the wait of this key lasts */
  check(key: string): void | Promise<void>
  recordFailure(key: string): void | Promise<void>
  recordSuccess(key: string): void | Promise<void>
  /** The attempt ended in an error. */
  releaseAttempt(key: string): void | Promise<void>
}

type Failures = { count: number; at: number; waitMs: number }

/**
 * Growing waits after wrong passwords: 1, 2, 4 … 300 s after the fifth in a row. Keys are pairs of
 * account and network, so that a stranger's guessing never locks the owner out.
 */
export class Backoff implements Waits {
  readonly #clock: Clock
  readonly #failures = new LruMap<string, Failures>({ max: MAX_KEYS })

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** @throws Fault `rate_limited` while the wait of this key lasts */
  check(key: string): void {
    const failures = this.#failures.get(key)
    if (failures === undefined) return
    const now = this.#clock.now()
    // A clock that was set back must not add to the wait.
    failures.at = Math.min(failures.at, now)
    const left = failures.at + failures.waitMs - now
    if (left > 0) throw buildWaitingFault(left / 1000)
  }

  recordFailure(key: string): void {
    const count = (this.#failures.get(key)?.count ?? 0) + 1
    const waitSeconds =
      count < FREE_FAILURES ? 0 : Math.min(MAX_WAIT_SECONDS, 2 ** (count - FREE_FAILURES))
    this.#failures.set(key, { count, at: this.#clock.now(), waitMs: waitSeconds * 1000 })
  }

  recordSuccess(key: string): void {
    this.#failures.delete(key)
  }
  releaseAttempt(): void {}
}

export function buildWaitingFault(seconds: number): Fault {
  return new Fault('rate_limited', { headers: { 'retry-after': String(Math.ceil(seconds)) } })
}
