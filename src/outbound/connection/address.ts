/**
 * Step 8 of the resolver: whether an address may be connected to. Only public unicast addresses may;
 * everything that reaches the operator's own network, a cloud's metadata service or another
 * address in disguise (mapped, NAT64, 6to4, Teredo) is refused unless the operator lists it.
 */

import { type CidrList, isIn, parseAddress, parseCidrs } from '../../core/net/cidr.ts'

export type { CidrList } from '../../core/net/cidr.ts'
export { parseCidrs } from '../../core/net/cidr.ts'

export type Verdict = 'public' | 'allowed' | 'refused'

/** IANA special-purpose, multicast and reserved IPv4, and Azure's wire server. */
export const NOT_PUBLIC_V4 = parseCidrs(
  `0.0.0.0/8, 10.0.0.0/8, 100.64.0.0/10, 127.0.0.0/8, 169.254.0.0/16, 172.16.0.0/12,
  192.0.0.0/24, 192.0.2.0/24, 192.31.196.0/24, 192.52.193.0/24, 192.88.99.0/24, 192.168.0.0/16,
  192.175.48.0/24, 198.18.0.0/15, 198.51.100.0/24, 203.0.113.0/24, 224.0.0.0/4, 240.0.0.0/4,
  168.63.129.16`,
)

/** Global unicast; ::/96, ::ffff:0:0/96, fc00::/7, fe80::/10, ff00::/8 lie outside. */
export const GLOBAL_V6 = parseCidrs('2000::/3')

/** Protocol assignments with Teredo and ORCHID, documentation, 6to4, AS112. */
export const NOT_PUBLIC_V6 = parseCidrs(
  '2001::/23, 2001:db8::/32, 2002::/16, 2620:4f:8000::/48, 3fff::/20',
)

/** NAT64 (RFC 6052, section 2.1): the last four bytes are the IPv4 address that is reached. */
export const NAT64 = parseCidrs('64:ff9b::/96')

/**
 * The verdict on one textual address. An address that does not parse, or that has a zone id, is
 * refused. A v4-mapped IPv6 address is judged as the IPv6 address it is: a listed IPv4 network
 * does not allow it. A NAT64 address is public if its IPv4 address is.
 */
export function classify(address: string, allowed: CidrList): Verdict {
  const bytes = parseAddress(address)
  if (bytes === null) return 'refused'
  if (isIn(bytes, allowed)) return 'allowed'
  const isNat64 = isIn(bytes, NAT64)
  if (bytes.length === 4 || isNat64)
    return isIn(bytes.subarray(-4), NOT_PUBLIC_V4) ? 'refused' : 'public'
  return isIn(bytes, GLOBAL_V6) && !isIn(bytes, NOT_PUBLIC_V6) ? 'public' : 'refused'
}
