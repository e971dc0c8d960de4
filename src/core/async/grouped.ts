/** Combines simultaneous items into one task, for statements that take many as cheaply as one. */
import { runUntraced } from '../trace/span.ts'

type Settings = {
  /** Items per task, at most. */
  size: number
  /** Tasks that run at a time. Items that arrive meanwhile share the next task. */
  width: number
}

type Waiting<Item, Result> = {
  item: Item
  resolve(result: Result): void
  reject(error: unknown): void
}

export class Grouped<Item, Result> {
  readonly #task: (items: readonly Item[]) => Promise<readonly Result[]>
  readonly #settings: Settings
  #waiting: Waiting<Item, Result>[] = []
  #running = 0

  /** `task` returns a result for each item, in their order. */
  constructor(task: (items: readonly Item[]) => Promise<readonly Result[]>, settings: Settings) {
    this.#task = task
    this.#settings = settings
  }

  run(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject })
      // Items from the same tick of the event loop share a task.
      if (this.#waiting.length === 1) runUntraced(() => setImmediate(() => this.#start()))
    })
  }

  #start(): void {
    while (this.#waiting.length > 0 && this.#running < this.#settings.width) {
      const group = this.#waiting.splice(0, this.#settings.size)
      this.#running += 1
      void this.#settle(group)
    }
  }

  async #settle(group: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#task(group.map(({ item }) => item))
      for (const [index, { resolve }] of group.entries()) resolve(results[index] as Result)
    } catch (error) {
      for (const { reject } of group) reject(error)
    }
    this.#running -= 1
    this.#start()
  }
}
