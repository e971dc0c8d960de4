/** Limits on waiting. The work itself continues; its later result or error is dropped. */
import { systemTimers } from './timers.ts'

/** The result of the work, or the error of `late` if it takes longer than `ms` milliseconds. */
export async function withTimeout<T>(
  ms: number,
  work: PromiseLike<T>,
  late: () => Error,
  timers = systemTimers,
): Promise<T> {
  const { promise: expired, reject } = Promise.withResolvers<never>()
  const timer = timers.setTimer(ms, () => reject(late()))
  try {
    return await Promise.race([work, expired])
  } finally {
    timer.cancel()
  }
}

/** Whether the work ended within `ms` milliseconds; also `false` for work that returns `false`. */
export async function endsWithin(
  ms: number,
  work: PromiseLike<unknown>,
  timers = systemTimers,
): Promise<boolean> {
  const { promise: expired, resolve } = Promise.withResolvers<false>()
  const timer = timers.setTimer(Math.max(0, ms), () => resolve(false))
  try {
    return (await Promise.race([work, expired])) !== false
  } finally {
    timer.cancel()
  }
}

/** Returns the result of `task`, unless `signal` aborts first; the task then continues by itself. */
export function rejectWhenAborted<T>(
  task: Promise<T>,
  signal: AbortSignal,
  onAbort: () => Error,
): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const abort = () => reject(onAbort())
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()
  return Promise.race([task, promise]).finally(() => signal.removeEventListener('abort', abort))
}
