/** Timers that a test owns: no time passes until `advance` moves it. */
import type { PendingTimer, Timers } from '../../src/core/async/timers.ts'
import { until } from './until.ts'

type Scheduled = { dueAt: number; ms: number; callback: () => void; repeats: boolean }

export class FakeTimers implements Timers {
  #nowMs = 0
  /** In the order in which they were set. */
  readonly #scheduled = new Set<Scheduled>()

  /** The number of pending timers. */
  get pending(): number {
    return this.#scheduled.size
  }

  setTimer(ms: number, callback: () => void): PendingTimer {
    return this.#schedule({ dueAt: this.#nowMs + ms, ms, callback, repeats: false })
  }

  setRepeating(ms: number, callback: () => void): PendingTimer {
    return this.#schedule({ dueAt: this.#nowMs + ms, ms, callback, repeats: true })
  }

  sleep(ms: number): Promise<void> {
    return ms <= 0 ? settle() : new Promise((resolve) => void this.setTimer(ms, resolve))
  }

  /** Moves time forward, and fires every due timer on the way, the earliest first. */
  async advance(ms: number): Promise<void> {
    const endMs = this.#nowMs + ms
    await settle()
    for (let next = this.#earliest(endMs); next; next = this.#earliest(endMs)) {
      this.#nowMs = Math.max(this.#nowMs, next.dueAt)
      if (next.repeats) next.dueAt = this.#nowMs + next.ms
      else this.#scheduled.delete(next)
      next.callback()
      await settle()
    }
    this.#nowMs = endMs
  }

  /** Waits until `count` timers of `ms` milliseconds are pending, and lets that time pass. */
  async expire(ms: number, count = 1): Promise<void> {
    await until(() => [...this.#scheduled].filter((timer) => timer.ms === ms).length >= count)
    await this.advance(ms)
  }

  #schedule(timer: Scheduled): PendingTimer {
    this.#scheduled.add(timer)
    return {
      cancel: () => void this.#scheduled.delete(timer),
      restart: () => {
        timer.dueAt = this.#nowMs + timer.ms
      },
    }
  }

  #earliest(endMs: number): Scheduled | undefined {
    return [...this.#scheduled]
      .filter(({ dueAt }) => dueAt <= endMs)
      .reduce<Scheduled | undefined>(
        (first, each) => (first && first.dueAt <= each.dueAt ? first : each),
        undefined,
      )
  }
}

/** Lets every promise settle that waits for no timer and no input. */
export function settle(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve))
}
