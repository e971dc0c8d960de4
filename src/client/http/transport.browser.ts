/** `transport.ts` of a page: the session is a cookie that no script reads, and goes to the page's own origin only. */
import { type ClockDifference, demandSameTime, ServerClocks } from './clock_difference.ts'

/** Forms and images of other pages cannot send this header. Requests with only the cookie are refused. */
const CONSOLE_HEADER = { 'x-cloakroom-console': '1' }

export function asSent(init: RequestInit): RequestInit {
  return {
    ...init,
    credentials: 'same-origin',
    cache: 'no-store',
    referrerPolicy: 'no-referrer',
    headers: { ...init.headers, ...CONSOLE_HEADER },
  }
}

/** The browser gives no other reason. */
export function connectionFault(_url: string, error: unknown): unknown {
  return error
}

/** Calls the listeners once, for the first difference of more than 5 minutes. */
const clocks = new ServerClocks(Date.now, () => {
  for (const listener of listeners) listener()
})
const listeners = new Set<() => void>()

export function onClockDifference(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function clockDifference(): ClockDifference | null {
  return clocks.difference
}

export function readLocalTime(): number {
  return Date.now()
}

export function noteServerDate(url: string, headers: Headers, sentAt: number): void {
  clocks.note(url, headers.get('date'), sentAt)
}

/** @throws ClocksDiffer for clocks that differ by more than an hour */
export function requireSameTime(): void {
  demandSameTime(clocks.difference)
}
