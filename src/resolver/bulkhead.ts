/**
 * A separate bulkhead for each workspace's calls: slow upstreams and many calls of one workspace do not delay others. A
 * bulkhead also limits a workspace's part of shared resources, such as the queue of the audit.
 */

import { systemTimers, type Timers } from '../core/async/timers.ts'
import { Fault } from '../core/fault.ts'
import { ALONE, type Sharers, shareOf } from '../database/limits/sharers.ts'

type Bulkhead = { running: number; waiting: Set<() => void> }

type Options = {
  /** Running calls of one workspace, and the same number of waiting ones. This process's share. */
  width: number
  sharers?: Sharers
  timers?: Timers
}

/** Milliseconds that a call waits: long enough for a burst to pass, too short to look like a slow upstream. */
const TIMEOUT_MS = 1_000
/** Milliseconds for a call that waited for a person before. */
const RETURN_TIMEOUT_MS = 30_000

export class Bulkheads {
  readonly #whole: number
  readonly #sharers: Sharers
  readonly #timers: Timers
  readonly #bulkheads = new Map<string, Bulkhead>()

  constructor({ width, sharers = ALONE, timers = systemTimers }: Options) {
    this.#whole = width
    this.#sharers = sharers
    this.#timers = timers
  }

  get #width(): number {
    return shareOf(this.#whole, this.#sharers)
  }

  /**
   * Takes a slot, or waits for one in order. Returns the function that releases it once. Does not wait if a place is
   * free.
   *
   * @param returning whether the call had a place and gave it back: it is not refused because many wait
   * @throws Fault `rate_limited` if too many wait, and for a wait that takes too long or that `deadline` ends
   */
  enter(
    workspaceId: string,
    deadline: AbortSignal,
    returning = false,
  ): (() => void) | Promise<() => void> {
    const bulkhead = this.#bulkheads.get(workspaceId) ?? { running: 0, waiting: new Set() }
    this.#bulkheads.set(workspaceId, bulkhead)
    if (bulkhead.running >= this.#width) {
      return this.#wait(bulkhead, deadline, returning).then(() =>
        this.#releaser(workspaceId, bulkhead),
      )
    }
    bulkhead.running += 1
    return this.#releaser(workspaceId, bulkhead)
  }

  #releaser(workspaceId: string, bulkhead: Bulkhead): () => void {
    let left = false
    return () => {
      if (!left) this.#leave(workspaceId, bulkhead)
      left = true
    }
  }

  /** Waits for a slot. An ending call hands its slot over before this wait ends. */
  async #wait({ waiting }: Bulkhead, deadline: AbortSignal, returning: boolean): Promise<void> {
    const isFull = !returning && waiting.size >= this.#width
    if (isFull || deadline.aborted) throw buildBusyFault()
    const place = Promise.withResolvers<void>()
    const giveUp = () => {
      // Delete it immediately: a slot that is handed over at this moment must go to the next call.
      waiting.delete(place.resolve)
      place.reject(buildBusyFault())
    }
    const timer = this.#timers.setTimer(returning ? RETURN_TIMEOUT_MS : TIMEOUT_MS, giveUp)
    deadline.addEventListener('abort', giveUp, { once: true })
    waiting.add(place.resolve)
    try {
      await place.promise
    } finally {
      timer.cancel()
      deadline.removeEventListener('abort', giveUp)
    }
  }

  #leave(workspaceId: string, bulkhead: Bulkhead): void {
    bulkhead.running -= 1
    // No call starts while more run than the reduced share allows. Several may start after it grew.
    for (const next of bulkhead.waiting) {
      if (bulkhead.running >= this.#width) break
      bulkhead.waiting.delete(next)
      bulkhead.running += 1
      next()
    }
    if (bulkhead.running === 0) this.#bulkheads.delete(workspaceId)
  }
}

function buildBusyFault(): Fault {
  return new Fault('rate_limited', {
    message: 'Too many calls of this workspace are running. Wait and retry.',
    fix: { setting: 'RESOLVER_CONCURRENCY' },
    headers: { 'retry-after': '1' },
  })
}
