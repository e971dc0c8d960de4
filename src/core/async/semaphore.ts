/** A bound on tasks that run at a time. */
import { Fault } from '../fault.ts'
import { withTimeout } from './timeout.ts'

/** `waitMs`: milliseconds that a task waits at most; without it, as long as it takes. */
type Bounds = { width: number; queue: number; waitMs?: number }

/** Lets `width` tasks run at a time and `queue` wait; more, and longer, are refused with 503 `unavailable`. */
export class Semaphore {
  readonly #bounds: Bounds
  #running = 0
  #waiting: (() => void)[] = []

  constructor(bounds: Bounds) {
    this.#bounds = bounds
  }

  async run<T>(task: () => Promise<T>): Promise<T> {
    await this.#enter()
    try {
      return await task()
    } finally {
      this.#leave()
    }
  }

  get isIdle(): boolean {
    return this.#running === 0
  }

  async #enter(): Promise<void> {
    const { width, queue, waitMs } = this.#bounds
    if (this.#running < width) {
      this.#running += 1
      return
    }
    if (this.#waiting.length >= queue) throw buildBusyFault()
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.push(resolve)
    if (waitMs === undefined) return promise
    await withTimeout(waitMs, promise, () => {
      this.#waiting = this.#waiting.filter((waiting) => waiting !== resolve)
      return buildBusyFault()
    })
  }

  #leave(): void {
    const next = this.#waiting.shift()
    if (next) next()
    else this.#running -= 1
  }
}

function buildBusyFault(): Fault {
  return new Fault('unavailable', { headers: { 'retry-after': '1' } })
}

/** A semaphore for each key. */
export class Semaphores {
  readonly #bounds: Bounds
  readonly #byKey = new Map<string, Semaphore>()

  constructor(bounds: Bounds) {
    this.#bounds = bounds
  }

  async run<T>(key: string, task: () => Promise<T>): Promise<T> {
    const semaphore = this.#byKey.get(key) ?? new Semaphore(this.#bounds)
    this.#byKey.set(key, semaphore)
    try {
      return await semaphore.run(task)
    } finally {
      if (semaphore.isIdle) this.#byKey.delete(key)
    }
  }
}
