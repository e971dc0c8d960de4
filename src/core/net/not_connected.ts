/** The runtime's codes for a connection that was never opened: nothing was sent. */
const CODES =
  /^(ECONNREFUSED|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT|EADDRNOTAVAIL|ENOTFOUND|DNS_|FailedToOpenSocket)/

export function isNotConnected(code: string): boolean {
  return CODES.test(code)
}
