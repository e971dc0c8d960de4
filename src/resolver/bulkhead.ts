/**
 * A lane of its own for the calls of each workspace: however slow the upstreams of one are, and however
 * many calls it makes, no other waits for them. A lane also bounds a workspace's part of what all share,
 * such as the queue of the audit.
 */
import { Fault } from '../platform/fault.ts'

type Lane = { running: number; waiting: Set<() => void> }

type Options = {
  /** Calls of one workspace that run at once, and as many that may wait. */
  width: number
  /** Milliseconds that one waits. */
  patienceMs?: number
}

/** Long enough for a burst to pass, short enough not to look like a slow upstream. */
const PATIENCE_MS = 1_000

export class Lanes {
  readonly #width: number
  readonly #patienceMs: number
  readonly #lanes = new Map<string, Lane>()

  constructor({ width, patienceMs = PATIENCE_MS }: Options) {
    this.#width = width
    this.#patienceMs = patienceMs
  }

  /**
   * Takes a place, waiting in order for one; answers what gives it back, which works once.
   *
   * @throws Fault `rate_limited` when too many wait, and for a wait that takes too long or that
   * `deadline` ends
   */
  async enter(workspaceId: string, deadline: AbortSignal): Promise<() => void> {
    const lane = this.#lanes.get(workspaceId) ?? { running: 0, waiting: new Set() }
    this.#lanes.set(workspaceId, lane)
    if (lane.running < this.#width) lane.running += 1
    else await this.#wait(lane, deadline)
    let left = false
    return () => {
      if (!left) this.#leave(workspaceId, lane)
      left = true
    }
  }

  /** Calls that run, for a workspace or for all. */
  running(workspaceId?: string): number {
    if (workspaceId !== undefined) return this.#lanes.get(workspaceId)?.running ?? 0
    return [...this.#lanes.values()].reduce((sum, { running }) => sum + running, 0)
  }

  /** Whoever leaves hands the place over: the number of running calls stays. */
  async #wait({ waiting }: Lane, deadline: AbortSignal): Promise<void> {
    if (waiting.size >= this.#width || deadline.aborted) throw busy()
    const turn = Promise.withResolvers<void>()
    const giveUp = () => {
      // At once: a place that is handed over at this very moment must go to the next.
      waiting.delete(turn.resolve)
      turn.reject(busy())
    }
    const timer = setTimeout(giveUp, this.#patienceMs)
    deadline.addEventListener('abort', giveUp, { once: true })
    waiting.add(turn.resolve)
    try {
      await turn.promise
    } finally {
      clearTimeout(timer)
      deadline.removeEventListener('abort', giveUp)
    }
  }

  #leave(workspaceId: string, lane: Lane): void {
    const [next] = lane.waiting
    if (next) {
      lane.waiting.delete(next)
      next()
      return
    }
    lane.running -= 1
    if (lane.running === 0) this.#lanes.delete(workspaceId)
  }
}

function busy(): Fault {
  return new Fault('rate_limited', {
    message: 'Too many calls of this workspace are running: wait and try again.',
    headers: { 'retry-after': '1' },
  })
}
