/**
 * The address of a server or resolver: it receives tokens, sessions and password proofs. So the connection must be
 * encrypted, unless it stays on this machine or the user allows it.
 */

export type AddressFault = 'not an address' | 'not encrypted'

/** The problem with an address; `null` for one that may be talked to. */
export function faultOfAddress(text: string, insecureHttp: boolean): AddressFault | null {
  const url = URL.parse(text)
  if (url === null) return 'not an address'
  // A path is allowed, but a query or fragment would swallow the paths of calls.
  if (`${url.username}${url.password}` !== '' || /[?#]/.test(text)) return 'not an address'
  if (url.protocol === 'https:') return null
  if (url.protocol !== 'http:') return 'not an address'
  return insecureHttp || isLoopback(url.hostname) ? null : 'not encrypted'
}

/** `hostname` as URL writes it: IPv4 in four decimal parts, whatever form it was given in. */
export function isLoopback(hostname: string): boolean {
  if (hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname)) return true
  return /^(.+\.)?localhost\.?$/.test(hostname)
}
