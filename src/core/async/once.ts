import { systemTimers, type Timers } from './timers.ts'

/** Runs `work` once and keeps its result. A failure is kept for `retryMs` milliseconds, then the next call runs it again. */
export function runOnceWithRetry<T>(
  work: () => Promise<T>,
  retryMs: number,
  timers: Timers = systemTimers,
): () => Promise<T> {
  let kept: Promise<T> | undefined
  const forget = () => {
    kept = undefined
  }
  return () => {
    kept ??= work().catch((error: unknown) => {
      timers.setTimer(retryMs, forget, { isBackground: true })
      throw error
    })
    return kept
  }
}
