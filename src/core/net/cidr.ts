/**
 * IP addresses and networks as bytes: strict notation only, so that two readers of one address never
 * see different ones. IPv4 and IPv6 stay apart by the number of their bytes.
 */

type Cidr = { bytes: Uint8Array; bits: number }

export type CidrList = readonly Cidr[]

/**
 * Reads comma-separated networks (`10.0.0.0/8`, `fd00::/8`) or single addresses; bits after the
 * prefix are ignored. Empty text is the empty list. Throws an Error that names the position of the
 * first bad entry, counted from 1, and does not repeat it.
 */
export function parseCidrs(text: string): CidrList {
  if (text.trim() === '') return []
  return text.split(',').map((entry, index) => {
    const cidr = parseCidr(entry.trim())
    if (cidr === null) throw new Error(`Entry ${index + 1} is not an IP address or CIDR network.`)
    return cidr
  })
}

function parseCidr(text: string): Cidr | null {
  const slash = text.indexOf('/')
  const bytes = parseAddress(slash === -1 ? text : text.slice(0, slash))
  if (bytes === null) return null
  const width = bytes.length * 8
  if (slash === -1) return { bytes, bits: width }
  const prefix = text.slice(slash + 1)
  if (!/^(?:0|[1-9]\d{0,2})$/.test(prefix) || Number(prefix) > width) return null
  return { bytes, bits: Number(prefix) }
}

/** Whether the bytes of an address lie in one of the networks of the same family. */
export function isIn(bytes: Uint8Array, list: CidrList): boolean {
  return list.some((cidr) => cidr.bytes.length === bytes.length && sharesPrefix(bytes, cidr))
}

function sharesPrefix(bytes: Uint8Array, cidr: Cidr): boolean {
  return bytes.every((byte, index) => {
    const bits = Math.min(8, Math.max(0, cidr.bits - index * 8))
    const mask = (0xff << (8 - bits)) & 0xff
    return (byte & mask) === ((cidr.bytes[index] ?? 0) & mask)
  })
}

/** 4 or 16 bytes in network order; null for zone ids, brackets and every other notation. */
export function parseAddress(text: string): Uint8Array | null {
  return text.includes(':') ? parseV6(text) : parseV4(text)
}

/** Four decimal numbers without leading zeros: octal, hex and short forms are not addresses here. */
function parseV4(text: string): Uint8Array | null {
  const parts = text.split('.')
  if (parts.length !== 4) return null
  const valid = parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255)
  return valid ? Uint8Array.from(parts, Number) : null
}

/** RFC 4291, section 2.2: eight groups, one `::`, and an IPv4 address in place of the last two. */
function parseV6(text: string): Uint8Array | null {
  const halves = text.split('::')
  if (halves.length > 2) return null
  const left = parseGroups(halves[0] ?? '', halves.length === 1)
  const right = parseGroups(halves[1] ?? '', true)
  if (left === null || right === null) return null
  const gap = 16 - left.length - right.length
  if (halves.length === 1 ? gap !== 0 : gap < 2) return null
  return Uint8Array.from([...left, ...new Uint8Array(gap), ...right])
}

function parseGroups(text: string, isLast: boolean): number[] | null {
  if (text === '') return []
  const bytes: number[] = []
  const groups = text.split(':')
  for (const [index, group] of groups.entries()) {
    const embedded = isLast && index === groups.length - 1 ? parseV4(group) : null
    if (embedded !== null) bytes.push(...embedded)
    else if (/^[0-9A-Fa-f]{1,4}$/.test(group)) bytes.push(...splitGroup(Number.parseInt(group, 16)))
    else return null
  }
  return bytes
}

function splitGroup(group: number): [number, number] {
  return [group >> 8, group & 0xff]
}
