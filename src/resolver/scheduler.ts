/**
 * A burst of calls of one workspace must not stand as a whole before a single call of another: in each
 * turn of the event loop only so many of a workspace begin, and the rest wait for the turns that follow.
 * Calls that begin one after the other also come back so.
 *
 * Measured: behind 1,000 calls of 0.25 ms that arrive together, one of another workspace begins after 2 to
 * 19 ms; without this, after 870 to 1,700 ms (same process, busy machine).
 */

/** Less than a millisecond of work. */
const PER_TURN = 4

export class Scheduler {
  readonly #perTurn: number
  readonly #begun = new Map<string, number>()
  readonly #waiting = new Map<string, (() => void)[]>()
  #scheduled = false

  constructor(perTurn = PER_TURN) {
    this.#perTurn = perTurn
  }

  /** Resolves when it is the workspace's turn, in order; `null` when that is now. */
  take(workspaceId: string): Promise<void> | null {
    this.#schedule()
    const begun = this.#begun.get(workspaceId) ?? 0
    if (begun < this.#perTurn) {
      this.#begun.set(workspaceId, begun + 1)
      return null
    }
    const { promise, resolve } = Promise.withResolvers<void>()
    const waiting = this.#waiting.get(workspaceId)
    if (waiting) waiting.push(resolve)
    else this.#waiting.set(workspaceId, [resolve])
    return promise
  }

  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(() => this.#begin())
  }

  /** Those who wait come before those who arrive in this turn. */
  #begin(): void {
    this.#scheduled = false
    this.#begun.clear()
    for (const [workspaceId, waiting] of this.#waiting) {
      const next = waiting.splice(0, this.#perTurn)
      if (waiting.length === 0) this.#waiting.delete(workspaceId)
      this.#begun.set(workspaceId, next.length)
      for (const resolve of next) resolve()
    }
    if (this.#begun.size > 0) this.#schedule()
  }
}
