/**
 * A server that is away: what was read stays on the page, with what is typed there, and once somebody answers, all
 * that failed is asked for again.
 */
import type { QueryClient } from '@tanstack/react-query'
import { AskError, ask } from './keys/ask.ts'
import { callFailure } from './keys/call_failure.ts'
import type { Failure } from './keys/reports.ts'
import { shared } from './shared.ts'

const CODES = ['unreachable', 'unusable_answer', 'unavailable', 'internal_error']
/** Between two questions whether somebody answers. */
export const AGAIN_MS = 3_000

const away = shared(false)
export const useAway = away.useValue

/** Null for an error that is no refusal: a defect of the page. */
export function failureIn(error: unknown): Failure | null {
  return error instanceof AskError ? error : callFailure(error)
}

export function watchAway(client: QueryClient): void {
  client.getQueryCache().subscribe((event) => {
    if (event.type !== 'updated' || event.action.type !== 'error') return
    if (!isOfAway(event.action.error)) return
    const { query } = event
    // What was read is not taken away by a reading that failed.
    if (query.state.data !== undefined) query.setState({ status: 'success', error: null })
    void untilBack(client)
  })
  client.getMutationCache().subscribe((event) => {
    if (event.type !== 'updated' || event.action.type !== 'error') return
    if (isOfAway(event.action.error)) void untilBack(client)
  })
}

function isOfAway(error: unknown): boolean {
  return CODES.includes(failureIn(error)?.code ?? '')
}

async function untilBack(client: QueryClient): Promise<void> {
  if (away.get()) return
  away.set(true)
  do {
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
  } while (!(await answers()))
  away.set(false)
  await client.invalidateQueries()
}

/** Also where the session has ended: then all screens hear of that. */
async function answers(): Promise<boolean> {
  try {
    await ask('accounts.check', null)
    return true
  } catch (error) {
    return !isOfAway(error)
  }
}
