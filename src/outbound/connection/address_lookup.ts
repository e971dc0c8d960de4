/**
 * Step 8 of the resolver: finds the one address for the connection to a name. Every address of the name is checked, so
 * that a mixed answer cannot include a private one. The name is resolved once: the checked address is used, even if DNS
 * changes. The address and its verdict are cached for the DNS TTL, at most ten seconds. Refusals are not cached.
 */
import { networkInterfaces } from 'node:os'
import { rejectWhenAborted } from '../../core/async/timeout.ts'
import type { Clock } from '../../core/clock.ts'
import { Fault } from '../../core/fault.ts'
import { LruMap } from '../../core/lru.ts'
import { type CidrList, isIn, parseAddress, parseCidrs } from '../../core/net/cidr.ts'
import { traceWork } from '../../core/trace/span.ts'

type Verdict = 'public' | 'allowed' | 'refused'

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
const NAT64 = parseCidrs('64:ff9b::/96')

/** One address of a name, and the seconds for which it may be kept. */
export type FoundAddress = { address: string; ttl: number }

/** The cause of `upstream_unreachable` for a name without an address. */
export class UnknownName extends Error {}

/** Returns all addresses of a name; rejects if there are none. */
export type Lookup = (host: string) => Promise<readonly FoundAddress[]>

/** c-ares does not use the thread pool, so a hanging name server does not delay other calls. */
export const systemLookup: Lookup = (host) => Bun.dns.lookup(host, { backend: 'c-ares' })

export type AddressLookup = {
  /**
   * Returns the address for a host and port; without a wait if it is known.
   *
   * @throws Fault `address_blocked`, `upstream_unreachable`, `upstream_timeout`
   */
  find(host: string, port: number, deadline: AbortSignal): string | Promise<string>
}

const MAX_KEPT = 1000
const MAX_KEPT_SECONDS = 10

/** Milliseconds. Also expires if the clock is set back. */
type Kept = { address: string; from: number; ms: number }

type Options = {
  allowed: CidrList
  /** `name=address` entries of RESOLVER_HOSTS, consulted before DNS. */
  hosts: readonly string[]
  lookup: Lookup
  /** Ports on which this product itself listens, on any address of this machine. */
  ownPorts: () => readonly number[]
  clock: Clock
}

export function openAddressLookup({ hosts, clock, ...options }: Options): AddressLookup {
  const fixed = new Map<string, FoundAddress[]>()
  for (const entry of hosts) {
    const [name = '', address = ''] = entry.toLowerCase().split('=')
    fixed.set(name, [...(fixed.get(name) ?? []), { address, ttl: MAX_KEPT_SECONDS }])
  }
  const kept = new LruMap<string, Kept>({ max: MAX_KEPT })
  const findAnew = async (host: string, port: number, deadline: AbortSignal) => {
    const from = clock.now()
    const found = fixed.get(host) ?? (await lookUp(options.lookup, host, deadline))
    const address = judge(found, port, options)
    const seconds = Math.min(MAX_KEPT_SECONDS, ...found.map(({ ttl }) => ttl))
    kept.set(`${host}:${port}`, { address, from, ms: seconds * 1000 })
    return address
  }
  return {
    find: (host, port, deadline) => {
      const known = kept.get(`${host}:${port}`)
      const age = known ? clock.now() - known.from : -1
      return known && age >= 0 && age < known.ms ? known.address : findAnew(host, port, deadline)
    },
  }
}

/** @throws Fault `address_blocked`, `upstream_unreachable` */
function judge(
  found: readonly FoundAddress[],
  port: number,
  { allowed, ownPorts }: Pick<Options, 'allowed' | 'ownPorts'>,
): string {
  const addresses = found.map(({ address }) => address)
  const refused = addresses.some((address) => classify(address, allowed) === 'refused')
  const own = ownPorts().includes(port) && addresses.some(isOwnAddress)
  if (own) throw new Fault('address_blocked')
  if (refused) throw new Fault('address_blocked', { fix: { setting: 'RESOLVER_ALLOW_NETWORKS' } })
  const chosen = addresses.find((address) => !address.includes(':')) ?? addresses[0]
  if (chosen === undefined) throw new Fault('upstream_unreachable', { cause: new UnknownName() })
  return chosen
}

async function lookUp(
  lookup: Lookup,
  host: string,
  deadline: AbortSignal,
): Promise<readonly FoundAddress[]> {
  try {
    return await traceWork('dns', { 'server.address': host }, () =>
      rejectWhenAborted(lookup(host), deadline, () => new Fault('upstream_timeout')),
    )
  } catch (cause) {
    if (cause instanceof Fault) throw cause
    throw new Fault('upstream_unreachable', { cause: isUnknown(cause) ? new UnknownName() : cause })
  }
}

/** DNS answered that there is no such name, or no address of it. */
function isUnknown(error: unknown): boolean {
  return error instanceof Error && 'code' in error && NO_ADDRESS.test(String(error.code))
}

const NO_ADDRESS = /^(DNS_)?(ENOTFOUND|ENODATA)$/

/** Loopback, and the unspecified addresses, which connect to this machine too. */
const THIS_MACHINE = parseCidrs('127.0.0.0/8, 0.0.0.0/8, ::1, ::')
const WITH_IPV4 = [...parseCidrs('::ffff:0:0/96'), ...NAT64]

/** Compared as bytes: an address has many notations, and an IPv4 one further forms in IPv6. */
function isOwnAddress(address: string): boolean {
  const bytes = parsePlainAddress(address)
  if (bytes === null || isIn(bytes, THIS_MACHINE)) return true
  const interfaces = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  return interfaces.some((own) => {
    const ours = parsePlainAddress(own.address.split('%')[0] ?? '')
    return ours !== null && Buffer.compare(ours, bytes) === 0
  })
}

function parsePlainAddress(address: string): Uint8Array | null {
  const bytes = parseAddress(address)
  return bytes !== null && isIn(bytes, WITH_IPV4) ? bytes.subarray(12) : bytes
}

export type { CidrList } from '../../core/net/cidr.ts'
export { parseCidrs } from '../../core/net/cidr.ts'

/**
 * Whether an address may be connected to. Only public unicast addresses may; everything that reaches the
 * operator's own network, a cloud's metadata service or another address in disguise (mapped, NAT64, 6to4, Teredo)
 * is refused unless the operator lists it.
 *
 * The verdict on one textual address. An address that does not parse, or that has a zone id, is refused. A
 * v4-mapped IPv6 address is judged as the IPv6 address it is: a listed IPv4 network does not allow it. A NAT64
 * address is public if its IPv4 address is.
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
