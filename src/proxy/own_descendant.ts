/**
 * Checks that the other end of a local connection is a program that this process started, or one that such a program
 * started. Only Linux provides this; on other systems, no program is recognised. Another user of the machine may bind
 * the same port at another loopback address, so both ends are compared completely.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { isIPv4 } from 'node:net'
import { endianness } from 'node:os'

export type ConnectionEnd = { address: string | undefined; port: number | undefined }

const ESTABLISHED = '01'

/** @param near the other end, `far` this end; both IPv4, and of this process's user */
export function isOfDescendant(near: ConnectionEnd, far: ConnectionEnd): boolean {
  const inode = inodeOf(near, far)
  if (inode === null) return false
  return descendantsOf(process.pid).some((pid) => holds(pid, `socket:[${inode}]`))
}

/** Returns the connection's file, if the system lists exactly one. */
function inodeOf(near: ConnectionEnd, far: ConnectionEnd): string | null {
  const [local, remote] = [formatEnd(near), formatEnd(far)]
  if (local === null || remote === null) return null
  const user = String(process.getuid?.())
  const found = [
    ...inodesIn('/proc/net/tcp', local, remote, user),
    // A program may hold an IPv4 connection by a socket of IPv6 (RFC 4291, section 2.5.5.2).
    ...inodesIn('/proc/net/tcp6', MAPPED + local, MAPPED + remote, user),
  ]
  return found.length === 1 ? (found[0] ?? null) : null
}

function inodesIn(table: string, local: string, remote: string, user: string): string[] {
  return linesOf(table).flatMap((line) => {
    const [, near, far, state, , , , uid, , inode] = line.trim().split(/\s+/)
    const isIt = near === local && far === remote && state === ESTABLISHED && uid === user
    return isIt && inode !== undefined && inode !== '0' ? [inode] : []
  })
}

/** The system lists words of 32 bits in the order of bytes of its processor. */
const MAPPED = `${'0'.repeat(16)}${word([0, 0, 0xff, 0xff])}`

/** An end as the system lists it, such as `0100007F:1F90`. */
function formatEnd({ address, port }: ConnectionEnd): string | null {
  if (address === undefined || port === undefined || !isIPv4(address)) return null
  return `${word(address.split('.').map(Number))}:${toHex(port, 4)}`
}

function word(bytes: number[]): string {
  const ordered = endianness() === 'LE' ? bytes.toReversed() : bytes
  return ordered.map((byte) => toHex(byte, 2)).join('')
}

function toHex(value: number, digits: number): string {
  return value.toString(16).toUpperCase().padStart(digits, '0')
}

function descendantsOf(ancestor: number): number[] {
  const parents = new Map(processes().map((pid) => [pid, parentOf(pid)]))
  const found: number[] = []
  const family = new Set([ancestor])
  for (let before = -1; before < family.size; ) {
    before = family.size
    for (const [pid, parent] of parents) {
      if (family.has(pid) || !family.has(parent)) continue
      family.add(pid)
      found.push(pid)
    }
  }
  return found
}

function processes(): number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
  } catch {
    return []
  }
}

/** The name before it may hold anything but a newline and ends with the last parenthesis. */
function parentOf(pid: number): number {
  const [stat = ''] = linesOf(`/proc/${pid}/stat`)
  return Number(
    stat
      .slice(stat.lastIndexOf(')') + 1)
      .trim()
      .split(' ')[1],
  )
}

function holds(pid: number, file: string): boolean {
  const directory = `/proc/${pid}/fd`
  try {
    return readdirSync(directory).some((name) => linkOf(`${directory}/${name}`) === file)
  } catch {
    return false
  }
}

function linkOf(path: string): string | null {
  try {
    return readlinkSync(path)
  } catch {
    return null
  }
}

function linesOf(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n')
  } catch {
    return []
  }
}
