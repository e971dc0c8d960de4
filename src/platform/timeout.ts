/**
 * What the work comes to, or what `late` makes if it takes longer than `ms` milliseconds. The work itself
 * goes on: what becomes of it then matters to nobody.
 */
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
