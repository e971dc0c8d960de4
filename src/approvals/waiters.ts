/**
 * Calls that wait for a member's decision. They use no database connection: one statement checks all of a workspace's
 * calls, after each change and every few seconds.
 */
import type { PendingTimer, Timers } from '../core/async/timers.ts'
import { describeError, type Log } from '../core/log.ts'

type Waiter = { id: string; tokenId: string; workspaceId: string; wake: () => void }

type Parts = {
  timers: Timers
  log: Log
  /** Returns the requests among these that are decided or expired. */
  decided(ids: readonly string[]): Promise<string[]>
}

/** Waiting calls of one token and of one workspace, in this process. */
const MAX_OF_TOKEN = 20
const MAX_OF_WORKSPACE = 100
/** Milliseconds between two checks of all waiting calls. */
const LOOK_MS = 3_000

export class Waiters {
  readonly #parts: Parts
  readonly #waiting = new Set<Waiter>()
  readonly #timer: PendingTimer
  #looking: Promise<void> | null = null
  #isLookDue = false

  constructor(parts: Parts) {
    this.#parts = parts
    this.#timer = parts.timers.setRepeating(LOOK_MS, () => void this.look())
  }

  get size(): number {
    return this.#waiting.size
  }

  /** Whether one more call of the token may wait. */
  hasRoom({ tokenId, workspaceId }: Pick<Waiter, 'tokenId' | 'workspaceId'>): boolean {
    let [ofToken, ofWorkspace] = [0, 0]
    for (const waiter of this.#waiting) {
      if (waiter.tokenId === tokenId) ofToken += 1
      if (waiter.workspaceId === workspaceId) ofWorkspace += 1
    }
    return ofToken < MAX_OF_TOKEN && ofWorkspace < MAX_OF_WORKSPACE
  }

  /** Resolves when the request is decided or expired, after `ms` milliseconds, or when the caller disconnects. */
  async wait({
    signal,
    ms,
    ...waiting
  }: Omit<Waiter, 'wake'> & { signal: AbortSignal; ms: number }): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const waiter = { ...waiting, wake: () => resolve() }
    const timer = this.#parts.timers.setTimer(ms, resolve)
    signal.addEventListener('abort', waiter.wake, { once: true })
    if (signal.aborted) resolve()
    this.#waiting.add(waiter)
    try {
      await promise
    } finally {
      this.#waiting.delete(waiter)
      timer.cancel()
      signal.removeEventListener('abort', waiter.wake)
    }
  }

  /** Checks for decisions on waiting requests, in one workspace or in all. One check runs at a time. */
  async look(workspaceId?: string): Promise<void> {
    const isConcerned = [...this.#waiting].some(
      (waiter) => workspaceId === undefined || waiter.workspaceId === workspaceId,
    )
    if (!isConcerned) return
    if (this.#looking) {
      this.#isLookDue = true
      return this.#looking
    }
    this.#looking = this.#lookUntilCurrent().finally(() => {
      this.#looking = null
    })
    return this.#looking
  }

  close(): void {
    this.#timer.cancel()
    for (const { wake } of this.#waiting) wake()
  }

  async #lookUntilCurrent(): Promise<void> {
    do {
      this.#isLookDue = false
      const ids = [...new Set([...this.#waiting].map(({ id }) => id))]
      if (ids.length === 0) return
      try {
        const decided = new Set(await this.#parts.decided(ids))
        for (const { id, wake } of this.#waiting) if (decided.has(id)) wake()
      } catch (error) {
        this.#parts.log.warning('pending approvals could not be read', describeError(error))
      }
    } while (this.#isLookDue)
  }
}
