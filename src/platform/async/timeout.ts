/** Bounds on waiting. The work itself goes on; its later result or error is dropped. */

/** The result of the work, or the error of `late` if it takes longer than `ms` milliseconds. */
export async function withTimeout<T>(
  ms: number,
  work: PromiseLike<T>,
  late: () => Error,
): Promise<T> {
  const { promise: expired, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(late()), ms)
  try {
    return await Promise.race([work, expired])
  } finally {
    clearTimeout(timer)
  }
}

/** Whether the work ended within `ms` milliseconds; also `false` for work that returns `false`. */
export async function endsWithin(ms: number, work: PromiseLike<unknown>): Promise<boolean> {
  const { promise: expired, resolve } = Promise.withResolvers<false>()
  const timer = setTimeout(resolve, Math.max(0, ms), false)
  try {
    return (await Promise.race([work, expired])) !== false
  } finally {
    clearTimeout(timer)
  }
}
