/**
 * An unavailable server: data that was read and text that was typed stay on the page. Once the server answers, everything
 * that failed is read again.
 */
import type { QueryClient } from '@tanstack/react-query'
import { AskError, ask } from './keys/ask.ts'
import { callFailure } from './keys/call_failure.ts'
import type { Failure } from './keys/reports.ts'
import { createShared } from './shared.ts'

const CODES = [
  'unreachable',
  'lost_answer',
  'lost_token',
  'unusable_answer',
  'unavailable',
  'internal_error',
]
/** Between two checks of an unavailable server. */
export const AGAIN_MS = 3_000

const unavailable = createShared(false)
export const useIsUnavailable = unavailable.useValue

/** Null for an error that is no refusal: a defect of the page. */
export function failureIn(error: unknown): Failure | null {
  return error instanceof AskError ? error : callFailure(error)
}

export function watchAvailability(client: QueryClient): void {
  client.getQueryCache().subscribe((event) => {
    if (event.type !== 'updated' || event.action.type !== 'error') return
    if (!isUnavailable(event.action.error)) return
    const { query } = event
    // A failed read does not remove data that was read before.
    if (query.state.data !== undefined) query.setState({ status: 'success', error: null })
    void waitForServer(client)
  })
  client.getMutationCache().subscribe((event) => {
    if (event.type !== 'updated' || event.action.type !== 'error') return
    if (isUnavailable(event.action.error)) void waitForServer(client)
  })
}

function isUnavailable(error: unknown): boolean {
  return CODES.includes(failureIn(error)?.code ?? '')
}

async function waitForServer(client: QueryClient): Promise<void> {
  if (unavailable.get()) return
  unavailable.set(true)
  do {
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
  } while (!(await checkServer()))
  unavailable.set(false)
  await client.invalidateQueries()
}

/** Also true if the session has ended: the worker then reports that to all screens. */
async function checkServer(): Promise<boolean> {
  try {
    await ask('accounts.check', null)
    return true
  } catch (error) {
    return !isUnavailable(error)
  }
}
