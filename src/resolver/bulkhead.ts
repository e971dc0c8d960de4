/**
 * A bulkhead of its own for the calls of each workspace: however slow the upstreams of one are, and however
 * many calls it makes, no other waits for them. A bulkhead also bounds a workspace's part of what all share,
 * such as the queue of the audit.
 */
import { Fault } from '../platform/fault.ts'

type Bulkhead = { running: number; waiting: Set<() => void> }

type Options = {
  /** Calls of one workspace that run at once, and as many that may wait. */
  width: number
  /** Milliseconds that one waits. */
  timeoutMs?: number
}

/** Long enough for a burst to pass, short enough not to look like a slow upstream. */
const TIMEOUT_MS = 1_000

export class Bulkheads {
  readonly #width: number
  readonly #timeoutMs: number
  readonly #bulkheads = new Map<string, Bulkhead>()

  constructor({ width, timeoutMs = TIMEOUT_MS }: Options) {
    this.#width = width
    this.#timeoutMs = timeoutMs
  }

  /**
   * Takes a place, waiting in order for one; returns what gives it back, which works once. Without a wait
   * where there is one.
   *
   * @throws Fault `rate_limited` when too many wait, and for a wait that takes too long or that
   * `deadline` ends
   */
  enter(workspaceId: string, deadline: AbortSignal): (() => void) | Promise<() => void> {
    const bulkhead = this.#bulkheads.get(workspaceId) ?? { running: 0, waiting: new Set() }
    this.#bulkheads.set(workspaceId, bulkhead)
    if (bulkhead.running >= this.#width) {
      return this.#wait(bulkhead, deadline).then(() => this.#wayOut(workspaceId, bulkhead))
    }
    bulkhead.running += 1
    return this.#wayOut(workspaceId, bulkhead)
  }

  #wayOut(workspaceId: string, bulkhead: Bulkhead): () => void {
    let left = false
    return () => {
      if (!left) this.#leave(workspaceId, bulkhead)
      left = true
    }
  }

  /** A call that leaves hands the place over: the number of running calls stays. */
  async #wait({ waiting }: Bulkhead, deadline: AbortSignal): Promise<void> {
    if (waiting.size >= this.#width || deadline.aborted) throw busy()
    const place = Promise.withResolvers<void>()
    const giveUp = () => {
      // At once: a place that is handed over at this very moment must go to the next.
      waiting.delete(place.resolve)
      place.reject(busy())
    }
    const timer = setTimeout(giveUp, this.#timeoutMs)
    deadline.addEventListener('abort', giveUp, { once: true })
    waiting.add(place.resolve)
    try {
      await place.promise
    } finally {
      clearTimeout(timer)
      deadline.removeEventListener('abort', giveUp)
    }
  }

  #leave(workspaceId: string, bulkhead: Bulkhead): void {
    const [next] = bulkhead.waiting
    if (next) {
      bulkhead.waiting.delete(next)
      next()
      return
    }
    bulkhead.running -= 1
    if (bulkhead.running === 0) this.#bulkheads.delete(workspaceId)
  }
}

function busy(): Fault {
  return new Fault('rate_limited', {
    message: 'Too many calls of this workspace are running: wait and try again.',
    headers: { 'retry-after': '1' },
  })
}
