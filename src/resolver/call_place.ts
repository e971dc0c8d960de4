/** A call's concurrency slot and its deadline. Both are released while the call waits for a person. */
import type { CallDeadline } from '../outbound/deadline.ts'
import type { Bulkheads } from './bulkhead.ts'

export class CallPlace {
  readonly #bulkheads: Bulkheads
  readonly #workspaceId: string
  readonly #deadline: CallDeadline
  #leave: () => void = () => {}

  constructor(bulkheads: Bulkheads, workspaceId: string, deadline: CallDeadline) {
    this.#bulkheads = bulkheads
    this.#workspaceId = workspaceId
    this.#deadline = deadline
    deadline.afterwards(() => this.#leave())
  }

  /** Takes a slot, without a wait if one is free. @throws Fault `rate_limited` */
  enter(returning = false): Promise<void> | undefined {
    const place = this.#bulkheads.enter(this.#workspaceId, this.#deadline.signal, returning)
    if (place instanceof Promise) return place.then((leave) => this.#hold(leave))
    this.#hold(place)
  }

  /** Waits without a slot, and with the deadline paused. @throws Fault `rate_limited` if no slot is free afterwards */
  async waitWithoutPlace<T>(wait: () => Promise<T>): Promise<T> {
    this.#leave()
    const resume = this.#deadline.pause()
    try {
      return await wait()
    } finally {
      resume()
      await this.enter(true)
    }
  }

  /** Keeps a slot. After the end of the call, it is released immediately. */
  #hold(leave: () => void): void {
    this.#leave = leave
    if (this.#deadline.signal.aborted) leave()
  }
}
