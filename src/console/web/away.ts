/**
 * A server that is away: what was read stays on the page, with what is typed there, and once somebody answers, all
 * that failed is asked for again.
 */
import type { QueryClient } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { AskError, ask } from './keys/ask.ts'
import { callFailure } from './keys/call_failure.ts'
import type { Failure } from './keys/reports.ts'

const CODES = ['unreachable', 'unusable_answer', 'unavailable', 'internal_error']
/** Between two questions whether somebody answers. */
export const AGAIN_MS = 3_000

let isAway = false
const listeners = new Set<() => void>()

/** Null for an error that is no refusal: a defect of the page. */
export function failureIn(error: unknown): Failure | null {
  return error instanceof AskError ? error : callFailure(error)
}

export function useAway(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => isAway,
  )
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
  if (isAway) return
  become(true)
  do {
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
  } while (!(await answers()))
  become(false)
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

function become(next: boolean): void {
  isAway = next
  for (const listener of listeners) listener()
}
