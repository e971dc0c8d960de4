/**
 * Who holds the other end of a connection on this machine: a program that this process started, or one that
 * such a program started. Only Linux tells; elsewhere nobody is one.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

const ESTABLISHED = '01'

/** @param near the port of the other end, `far` of ours */
export function isOfDescendant(near: number, far: number): boolean {
  const inode = inodeOf(near, far)
  if (inode === null) return false
  return descendantsOf(process.pid).some((pid) => holds(pid, `socket:[${inode}]`))
}

/** As the kernel lists connections: addresses in hexadecimal, and which file they are. */
function inodeOf(near: number, far: number): string | null {
  const [nearEnd, farEnd] = [near, far].map((port) => `:${hex(port)}`)
  for (const table of ['/proc/net/tcp', '/proc/net/tcp6']) {
    for (const line of linesOf(table)) {
      const [, local = '', remote = '', state, , , , , , inode] = line.trim().split(/\s+/)
      const isIt = local.endsWith(nearEnd ?? '') && remote.endsWith(farEnd ?? '')
      if (isIt && state === ESTABLISHED && inode !== undefined) return inode
    }
  }
  return null
}

function hex(port: number): string {
  return port.toString(16).toUpperCase().padStart(4, '0')
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
