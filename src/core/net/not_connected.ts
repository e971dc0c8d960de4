/** The runtime's codes for a connection that was never opened. */
const CODES =
  /^(ECONNREFUSED|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT|EADDRNOTAVAIL|ENOTFOUND|DNS_|FailedToOpenSocket)/

/** Whether an error of `fetch` means that nothing was sent. */
export function isNotConnected(error: unknown): boolean {
  return error instanceof Error && 'code' in error && CODES.test(String(error.code))
}
