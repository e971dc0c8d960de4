/** The runtime's codes for a connection that was never opened. A timeout or a lost route may also end an open one. */
const CODES = /^(ECONNREFUSED|EADDRNOTAVAIL|ENOTFOUND|DNS_|FailedToOpenSocket)/

/** Whether an error of `fetch` means that nothing was sent. */
export function isNotConnected(error: unknown): boolean {
  return error instanceof Error && 'code' in error && CODES.test(String(error.code))
}
