/** Clocks are compared (`clock_difference.ts`) within an asynchronous context, as authorities are (`trust.ts`). */
import { AsyncLocalStorage } from 'node:async_hooks'
import { demandSameTime, type ServerClocks } from './clock_difference.ts'

const scopes = new AsyncLocalStorage<ServerClocks>()

/** Runs `work` with its requests watched. */
export function runWatchingClocks<T>(clocks: ServerClocks, work: () => Promise<T>): Promise<T> {
  return scopes.run(clocks, work)
}

/** This machine's time. */
export function readLocalTime(): number {
  return scopes.getStore()?.now() ?? Date.now()
}

export function noteServerDate(url: string, headers: Headers, sentAt: number): void {
  scopes.getStore()?.note(url, headers.get('date'), sentAt)
}

/** @throws ClocksDiffer for clocks that differ by more than an hour */
export function requireSameTime(): void {
  demandSameTime(scopes.getStore()?.difference ?? null)
}
