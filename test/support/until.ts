/** Waits for a condition instead of a time. */

const STEP_MS = 5
const LIMIT_MS = 30_000

type Options = {
  /** Milliseconds between two checks. */
  stepMs?: number
  /** Milliseconds until it throws. */
  limitMs?: number
}

/**
 * The first truthy value that `look` returns.
 * @throws after 30 seconds, or `limitMs`
 */
export async function until<T>(
  look: () => T | Promise<T>,
  { stepMs = STEP_MS, limitMs = LIMIT_MS }: Options = {},
): Promise<Exclude<T, false | null | undefined | 0 | ''>> {
  const endsAt = performance.now() + limitMs
  for (;;) {
    const found = await look()
    if (found) return found as Exclude<T, false | null | undefined | 0 | ''>
    if (performance.now() > endsAt) throw new Error(`never true: ${look}`)
    // The only sleep of the tests that wait for an external event: another process, a socket, a file.
    await Bun.sleep(stepMs)
  }
}
