/** A call's place among those of its workspace, and its deadline: it releases both while it waits for a person. */
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

  /** Takes a place, without a wait if one is free. @throws Fault `rate_limited` */
  enter(returning = false): Promise<void> | undefined {
    const place = this.#bulkheads.enter(this.#workspaceId, this.#deadline.signal, returning)
    if (place instanceof Promise) return place.then((leave) => this.#hold(leave))
    this.#hold(place)
  }

  /** Waits without a place and without its deadline. @throws Fault `rate_limited` when there is no place afterwards */
  async whileWaiting<T>(wait: () => Promise<T>): Promise<T> {
    this.#leave()
    const resume = this.#deadline.pause()
    try {
      return await wait()
    } finally {
      resume()
      await this.enter(true)
    }
  }

  /** Keeps a place. After the end of the call, it is given back immediately. */
  #hold(leave: () => void): void {
    this.#leave = leave
    if (this.#deadline.signal.aborted) leave()
  }
}
