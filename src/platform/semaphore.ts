/** A bound on tasks that run at a time. */
import { Fault } from './fault.ts'

/** Lets `width` tasks run at a time and `queue` wait; more are refused with 503 `unavailable`. */
export class Semaphore {
  #free: number
  readonly #queue: number
  readonly #waiting: (() => void)[] = []

  constructor({ width, queue }: { width: number; queue: number }) {
    this.#free = width
    this.#queue = queue
  }

  async run<T>(task: () => Promise<T>): Promise<T> {
    await this.#enter()
    try {
      return await task()
    } finally {
      this.#leave()
    }
  }

  async #enter(): Promise<void> {
    if (this.#free > 0) {
      this.#free -= 1
      return
    }
    if (this.#waiting.length >= this.#queue) {
      throw new Fault('unavailable', { headers: { 'retry-after': '1' } })
    }
    await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  #leave(): void {
    const next = this.#waiting.shift()
    if (next) next()
    else this.#free += 1
  }
}
