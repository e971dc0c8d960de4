/** What a check is: it says what it found, or throws what is wrong. */

/** What is wrong, in one line for the operator, which says what to do about it. */
export class Failed extends Error {}

export type Check = {
  name: string
  /** Returns what was found. @throws Failed, or any other error: both are a failure */
  run(): Promise<string> | string
}

export type Result = { check: string; ok: boolean; said: string }

/** All are made, whatever becomes of the one before. */
export async function runChecks(checks: readonly Check[]): Promise<Result[]> {
  const results: Result[] = []
  for (const { name, run } of checks) {
    try {
      results.push({ check: name, ok: true, said: await run() })
    } catch (error) {
      const said = error instanceof Error ? error.message : String(error)
      results.push({ check: name, ok: false, said })
    }
  }
  return results
}
