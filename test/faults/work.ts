/** Work that goes on while faults happen. Each kind knows how to find out afterwards what became of it. */
import { ApiError } from '../../src/client/http/api.ts'
import { Loss } from './ledger.ts'

export type Work = {
  name: string
  /** The origin where it may fail, if that is down. */
  origin: string
  /** One change that is acknowledged, and noted. */
  step(): Promise<void>
  /** Compares what is there with what was noted, and goes on from there. @throws Loss */
  reconcile(): Promise<void>
}

export type Tally = { steps: number; refusals: Map<string, number> }

export type Running = {
  tally: Tally
  /** Waits for the last steps. @throws what no fault explains */
  stop(): Promise<void>
}

const PAUSE_MS = 20

/**
 * Each kind from one side, until it is stopped. What began before a fault may fail after it: `wasDown` is asked for the
 * time since `performance.now()` was `since`.
 */
export function startWork(
  works: readonly Work[],
  wasDown: (origin: string, since: number) => boolean,
): Running {
  const tally: Tally = { steps: 0, refusals: new Map() }
  let isStopped = false
  const explained = (work: Work, error: unknown, began: number, isUnsure: boolean) => {
    if (error instanceof Loss) throw error
    // All works are asked for the outcome.
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

/** Short names: what a refusal is called by the server, and `unreachable` for what never was an answer. */
export function codeOf(error: unknown): string {
  if (error instanceof ApiError) return `${error.status} ${error.code}`
  const isNetwork = error instanceof Error && ('code' in error || error.name === 'TimeoutError')
  return isNetwork ? 'unreachable' : `${error}`.slice(0, 60)
}

/** All of it, one after the other. @throws Loss */
export async function reconcileAll(works: readonly Work[]): Promise<void> {
  for (const work of works) {
    try {
      await work.reconcile()
    } catch (error) {
      throw error instanceof Loss ? error : failureOf(work, error)
    }
  }
}
