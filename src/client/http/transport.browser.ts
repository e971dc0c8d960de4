/** `transport.ts` of a page: the session is a cookie that no script reads, and goes to the page's own origin only. */

/** No form and no image of another page can send it along: what comes with the cookie alone is refused. */
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

/** The browser says no more than that it could not be reached. */
export function connectionFault(_url: string, error: unknown): unknown {
  return error
}

/** A page has the time of its browser, and compares nothing. */
export function localNow(): number {
  return Date.now()
}

export function noteServerDate(_url: string, _headers: Headers, _sentAt: number): void {
  // The command line does this.
}

export function requireSameTime(): void {
  // The command line does this.
}
