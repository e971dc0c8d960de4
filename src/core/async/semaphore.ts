/** A bound on tasks that run at a time. */
import { Fault } from '../fault.ts'

/** Lets `width` tasks run at a time and `queue` wait; more are refused with 503 `unavailable`. */
export class Semaphore {
  readonly #width: number
  #running = 0
  readonly #queue: number
  readonly #waiting: (() => void)[] = []

  constructor({ width, queue }: { width: number; queue: number }) {
    this.#width = width
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

  get isIdle(): boolean {
    return this.#running === 0
  }

  async #enter(): Promise<void> {
    if (this.#running < this.#width) {
      this.#running += 1
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
    else this.#running -= 1
  }
}

/** One for each key. */
export class Semaphores {
  readonly #bounds: { width: number; queue: number }
  readonly #byKey = new Map<string, Semaphore>()

  constructor(bounds: { width: number; queue: number }) {
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
