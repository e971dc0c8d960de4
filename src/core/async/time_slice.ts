/**
 * Divides work on megabytes into slices of a few milliseconds: between two slices the process serves others. One turn
 * of the event loop begins at most one slice, for any number of such tasks.
 */

/** Milliseconds of one slice. */
const SLICE_MS = 4

let queue: Promise<void> = Promise.resolve()

export class TimeSlice {
  #endsAt = performance.now() + SLICE_MS

  get isSpent(): boolean {
    return performance.now() >= this.#endsAt
  }

  /** Resolves when the next slice begins, or immediately during this one. */
  async waitForNextSlice(): Promise<void> {
    if (!this.isSpent) return
    queue = queue.then(waitForNextTurn)
    await queue
    this.#endsAt = performance.now() + SLICE_MS
  }
}

/** Does something to each of any number of things, in time slices. */
export async function runInSlices<T>(
  things: Iterable<T>,
  act: (thing: T, index: number) => void,
): Promise<void> {
  const slice = new TimeSlice()
  let index = 0
  for (const thing of things) {
    act(thing, index)
    index += 1
    if (slice.isSpent) await slice.waitForNextSlice()
  }
}

/** Browsers have timers only. */
function waitForNextTurn(): Promise<void> {
  const isBrowser = typeof setImmediate === 'undefined'
  return new Promise((resolve) => (isBrowser ? setTimeout : setImmediate)(resolve))
}
