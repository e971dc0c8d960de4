/** The memory of another process, as somebody who controls it reads it (Linux; `man 5 proc`). */
import { closeSync, openSync, readFileSync, readSync } from 'node:fs'

const PAGE = 4096
/** Pages that are read at once. */
const STEP = 1024
/** Bits 62 and 63 of an entry in pagemap: in swap, or in memory. */
const IN_USE = 0xc0

/** Which of these are anywhere in the writable memory of a child of this process. */
export function foundInMemory(pid: number, wanted: Record<string, Uint8Array>): string[] {
  const missing = new Map(Object.entries(wanted))
  const longest = Math.max(...Object.values(wanted).map(({ length }) => length))
  for (const text of usedMemory(pid, longest - 1)) {
    for (const [name, bytes] of missing) if (text.includes(bytes)) missing.delete(name)
  }
  return Object.keys(wanted).filter((name) => !missing.has(name))
}

/** Piece by piece; each has so many bytes of the next at its end. */
function* usedMemory(pid: number, overlap: number): Generator<Buffer> {
  const memory = openSync(`/proc/${pid}/mem`, 'r')
  const pagemap = openSync(`/proc/${pid}/pagemap`, 'r')
  try {
    for (const { from, to } of writableRegions(pid)) {
      for (let page = from; page < to; page += STEP) {
        const size = Math.min(STEP * PAGE + overlap, (to - page) * PAGE)
        if (isUsed(read(pagemap, page * 8, STEP * 8))) yield read(memory, page * PAGE, size)
      }
    }
  } finally {
    closeSync(memory)
    closeSync(pagemap)
  }
}

/** As numbers of pages. */
function writableRegions(pid: number): { from: number; to: number }[] {
  const maps = readFileSync(`/proc/${pid}/maps`, 'latin1')
  return [...maps.matchAll(/^([0-9a-f]+)-([0-9a-f]+) rw/gm)].map(([, from = '', to = '']) => ({
    from: Number.parseInt(from, 16) / PAGE,
    to: Number.parseInt(to, 16) / PAGE,
  }))
}

function isUsed(entries: Buffer): boolean {
  for (let at = 7; at < entries.length; at += 8)
    if (((entries[at] ?? 0) & IN_USE) !== 0) return true
  return false
}

/** What can be read there: regions come and go while the process runs. */
function read(file: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  try {
    return bytes.subarray(0, readSync(file, bytes, 0, length, position))
  } catch {
    return bytes.subarray(0, 0)
  }
}
