/** What is asked for at the same moment, done as one: for statements that take many as cheaply as one. */
import { untraced } from '../trace/span.ts'

type Settings = {
  /** Items that one task takes at most. */
  size: number
  /** Tasks at a time; what comes meanwhile is one task together. */
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
      // What comes in the same tick of the event loop is in the same task.
      if (this.#waiting.length === 1) untraced(() => setImmediate(() => this.#start()))
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
