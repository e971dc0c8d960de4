/** Work that continues during faults. Each kind determines its outcome afterwards. */
import { ApiError } from '../../src/client/http/api.ts'
import { Loss } from './ledger.ts'

export type Work = {
  name: string
  /** The origin of the process that may fail, if it is down. */
  origin: string
  /** One change that is acknowledged, and noted. */
  step(): Promise<void>
  /**
   * Compares the stored data with the notes, and continues from there.
   * @throws Loss
   */
  reconcile(): Promise<void>
}

export type Tally = { steps: number; refusals: Map<string, number> }

export type Running = {
  tally: Tally
  /**
   * Waits for the last steps.
   * @throws errors that no fault explains
   */
  stop(): Promise<void>
}

const PAUSE_MS = 20

/**
 * Runs each kind from one side, until it is stopped. Work that began before a fault may fail after it: `wasDown` is
 * called with the time since `performance.now()` was `since`.
 */
export function startWork(
  works: readonly Work[],
  wasDown: (origin: string, since: number) => boolean,
): Running {
  const tally: Tally = { steps: 0, refusals: new Map() }
  let isStopped = false
  const explained = (work: Work, error: unknown, began: number, isUnsure: boolean) => {
    if (error instanceof Loss) throw error
    // Every kind determines its outcome.
    const asked = isUnsure ? works : [work]
    if (!asked.some(({ origin }) => wasDown(origin, began))) throw failureOf(work, error)
    const code = codeOf(error)
    tally.refusals.set(code, (tally.refusals.get(code) ?? 0) + 1)
  }
  const loop = async (work: Work) => {
    let isUnsure = false
    while (!isStopped) {
      const began = performance.now()
      try {
        if (isUnsure) await work.reconcile()
        isUnsure = false
        await work.step()
        tally.steps += 1
      } catch (error) {
        explained(work, error, began, isUnsure)
        isUnsure = true
        await Bun.sleep(PAUSE_MS)
      }
    }
  }
  const loops = works.map(loop)
  for (const running of loops) running.catch(() => {})
  return {
    tally,
    stop: async () => {
      isStopped = true
      await Promise.all(loops)
    },
  }
}

function failureOf({ name, origin }: Work, cause: unknown): Error {
  const fields = cause instanceof ApiError ? JSON.stringify(cause.fields) : ''
  const at = `${origin}, ${new Date().toISOString()}`
  return new Error(`${name} (${at}) failed with no fault: ${codeOf(cause)} ${fields} ${cause}`, {
    cause,
  })
}

/** Short names: the server's error code, and `unreachable` for a missing answer. */
export function codeOf(error: unknown): string {
  if (error instanceof ApiError) return `${error.status} ${error.code}`
  const isNetwork = error instanceof Error && ('code' in error || error.name === 'TimeoutError')
  return isNetwork ? 'unreachable' : `${error}`.slice(0, 60)
}

/**
 * All kinds, one after the other.
 * @throws Loss
 */
export async function reconcileAll(works: readonly Work[]): Promise<void> {
  for (const work of works) {
    try {
      await work.reconcile()
    } catch (error) {
      throw error instanceof Loss ? error : failureOf(work, error)
    }
  }
}
