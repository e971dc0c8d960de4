/**
 * The caller's network, the key of every limit for unauthenticated callers: an IPv4 address or an IPv6 /64, since a
 * single host commands a whole /64. X-Forwarded-For counts only as far as trusted proxies wrote it.
 */
import { type CidrList, isIn, parseAddress, parseCidrs } from './cidr.ts'

/** Reasons for counting many clients as one: `stranger` is an untrusted proxy, `nameless` sends no valid address. */
export type Doubt = 'stranger' | 'nameless'

/** Builds the function that names a request's network. The first peer with each doubt is reported. */
export function networkNamer(
  trusted: CidrList,
  onProblem: (doubt: Doubt, peer: string) => void = () => {},
): (request: Request, peer: string | null) => string {
  const reported = new Set<Doubt>()
  const tell = (doubt: Doubt, peer: string) => {
    if (!reported.has(doubt)) onProblem(doubt, peer)
    reported.add(doubt)
  }
  return (request, peer) => {
    const forwarded = request.headers.get('x-forwarded-for')
    if (forwarded !== null && peer !== null && !isTrusted(peer, trusted)) tell('stranger', peer)
    const hops = (forwarded ?? '').split(',').map((hop) => withoutPort(hop.trim()))
    let client = peer ?? 'unknown'
    while (hops.length > 0 && isTrusted(client, trusted)) client = hops.pop() || client
    const network = networkOf(client)
    if (network === 'unknown' && peer !== null) tell('nameless', peer)
    return network
  }
}

/** Some proxies write `192.0.2.1:1234`, or `[2001:db8::1]:1234` with or without the port. */
function withoutPort(hop: string): string {
  const [, v6, v4] = /^(?:\[([^\]]+)\](?::\d+)?|([^:]+):\d+)$/.exec(hop) ?? []
  return v6 ?? v4 ?? hop
}

/**
 * Builds the function that returns this server's origin as the caller sees it: `https` also if a trusted proxy that
 * ends TLS reports it.
 */
export function originNamer(trusted: CidrList): (request: Request, peer: string | null) => string {
  return ({ url, headers }, peer) => {
    const { origin } = new URL(url)
    const isSecure = headers.get('x-forwarded-proto')?.toLowerCase() === 'https'
    const isTrustedHttps = isSecure && isTrusted(peer ?? '', trusted)
    return isTrustedHttps ? origin.replace(/^http:/, 'https:') : origin
  }
}

function isTrusted(address: string, trusted: CidrList): boolean {
  const bytes = parseAddress(address)
  return bytes !== null && (isIn(bytes, trusted) || isIn(unmapAddress(bytes), trusted))
}

/** The IPv4 address within an IPv4-mapped one, as a socket for both has it (RFC 4291, section 2.5.5.2). */
function unmapAddress(bytes: Uint8Array): Uint8Array {
  return isIn(bytes, MAPPED) ? bytes.subarray(12) : bytes
}

const MAPPED = parseCidrs('::ffff:0:0/96')

function networkOf(address: string): string {
  const parsed = parseAddress(address)
  if (!parsed) return 'unknown'
  const bytes = unmapAddress(parsed)
  if (bytes.length === 4) return bytes.join('.')
  return `${Buffer.from(bytes.subarray(0, 8)).toString('hex')}/64`
}
