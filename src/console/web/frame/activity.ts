/** The time of the last activity. The worker locks the keys after 15 idle minutes, and the sidebar counts down. */
import { ask } from '../keys/ask.ts'
import { createShared } from '../shared.ts'

export const IDLE_MS = 15 * 60_000
const EVERY_MS = 10_000

/** Milliseconds since the epoch. */
export const lastActivity = createShared(Date.now())

/** Reports activity to the worker, at most every 10 seconds. */
export function keepUnlockedWhileUsed(): void {
  let last = Number.NEGATIVE_INFINITY
  const record = () => {
    if (performance.now() - last < EVERY_MS) return
    last = performance.now()
    lastActivity.set(Date.now())
    void ask('accounts.recordActivity', null)
  }
  for (const sign of ['pointerdown', 'keydown', 'wheel'] as const) {
    addEventListener(sign, record, { passive: true })
  }
  record()
}
