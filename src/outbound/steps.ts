/**
 * Divides long work into steps of about a millisecond. Each turn of the event loop runs one step, for any number of
 * calls: the cost of a hostile answer delays only its own call (protocol 6.2). Workspaces take turns.
 */
import { Fault } from '../core/fault.ts'
import type { Owner } from './connection/session_pool.ts'

/** Lets other work run between two steps. Throws if the work was cancelled. */
export type StepPause = () => Promise<void>

export class Steps {
  readonly #waiting = new Map<string, (() => void)[]>()
  #scheduled = false

  /** Resolves in a later turn of the event loop. */
  pause(workspaceId: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const waiting = this.#waiting.get(workspaceId)
    if (waiting) waiting.push(resolve)
    else this.#waiting.set(workspaceId, [resolve])
    this.#schedule()
    return promise
  }

  /** Returns the pauses of one call. Its deadline ends its work. */
  of({ workspaceId }: Owner, deadline: AbortSignal): StepPause {
    return async () => {
      await this.pause(workspaceId)
      if (deadline.aborted) throw new Fault('upstream_timeout')
    }
  }

  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(() => this.#startNext())
  }

  #startNext(): void {
    this.#scheduled = false
    const [first] = this.#waiting
    if (!first) return
    const [workspaceId, waiting] = first
    const resolve = waiting.shift()
    // Queued behind all others for its next step.
    this.#waiting.delete(workspaceId)
    if (waiting.length > 0) this.#waiting.set(workspaceId, waiting)
    if (this.#waiting.size > 0) this.#schedule()
    resolve?.()
  }
}
