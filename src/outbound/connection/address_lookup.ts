/**
 * Step 8 of the resolver: from a name to the one address that is connected to. Every address of the name
 * is judged, so that a mixed answer cannot slip a private one through, and the name is looked up
 * once: what was judged is what is connected to, whatever DNS answers a moment later.
 */
import { networkInterfaces } from 'node:os'
import { Fault } from '../../platform/fault.ts'
import { type CidrList, isIn, parseAddress, parseCidrs } from '../../platform/net/cidr.ts'
import { classify } from './address.ts'

/** All addresses of a name; rejects when there are none. */
export type Lookup = (host: string) => Promise<string[]>

/** c-ares does not block the thread pool: a hung name server delays no other call. */
export const systemLookup: Lookup = async (host) => {
  const found = await Bun.dns.lookup(host, { backend: 'c-ares' })
  return found.map(({ address }) => address)
}

export type AddressLookup = {
  /**
   * The address to connect to for a host and port.
   *
   * @throws Fault `address_blocked`, `upstream_unreachable`, `upstream_timeout`
   */
  find(host: string, port: number, deadline: AbortSignal): Promise<string>
}

type Options = {
  allowed: CidrList
  /** `name=address` entries of RESOLVER_HOSTS, consulted before DNS. */
  hosts: readonly string[]
  lookup: Lookup
  /** Ports on which this product itself listens, on whatever address of this machine. */
  ownPorts: () => readonly number[]
}

export function openAddressLookup({ allowed, hosts, lookup, ownPorts }: Options): AddressLookup {
  const fixed = new Map<string, string[]>()
  for (const entry of hosts) {
    const [name = '', address = ''] = entry.toLowerCase().split('=')
    fixed.set(name, [...(fixed.get(name) ?? []), address])
  }
  return {
    find: async (host, port, deadline) => {
      const addresses = fixed.get(host) ?? (await lookUp(lookup, host, deadline))
      const refused = addresses.some((address) => classify(address, allowed) === 'refused')
      const own = ownPorts().includes(port) && addresses.some(isOwnAddress)
      if (refused || own) throw new Fault('address_blocked')
      const chosen = addresses.find((address) => !address.includes(':')) ?? addresses[0]
      if (chosen === undefined) throw new Fault('upstream_unreachable')
      return chosen
    },
  }
}

async function lookUp(lookup: Lookup, host: string, deadline: AbortSignal): Promise<string[]> {
  const late = Promise.withResolvers<never>()
  const expire = () => late.reject(new Fault('upstream_timeout'))
  deadline.addEventListener('abort', expire)
  if (deadline.aborted) expire()
  try {
    return await Promise.race([lookup(host), late.promise])
  } catch (cause) {
    if (cause instanceof Fault) throw cause
    throw new Fault('upstream_unreachable', { cause })
  } finally {
    deadline.removeEventListener('abort', expire)
  }
}

/** Loopback, and the unspecified addresses, which connect to this machine too. */
const THIS_MACHINE = parseCidrs('127.0.0.0/8, 0.0.0.0/8, ::1, ::')
const MAPPED = parseCidrs('::ffff:0:0/96')

/** Compared as bytes: an address has many notations, and an IPv4 one a second form in IPv6. */
function isOwnAddress(address: string): boolean {
  const bytes = plainBytes(address)
  if (bytes === null || isIn(bytes, THIS_MACHINE)) return true
  const interfaces = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  return interfaces.some((own) => {
    const ours = plainBytes(own.address.split('%')[0] ?? '')
    return ours !== null && Buffer.compare(ours, bytes) === 0
  })
}

function plainBytes(address: string): Uint8Array | null {
  const bytes = parseAddress(address)
  return bytes !== null && isIn(bytes, MAPPED) ? bytes.subarray(12) : bytes
}
