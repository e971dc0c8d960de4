/** The memory of another process, the way an attacker who controls it reads it (Linux; `man 5 proc`). */
import { closeSync, openSync, readFileSync, readSync } from 'node:fs'

const PAGE = 4096
/** The number of pages with a state that is read in one step. */
const STEP = 4096
/** Bits 62 and 63 of an entry in pagemap: in swap, or in memory. */
const IN_USE = 0xc0

/** The wanted bytes that are anywhere in the writable memory of a child of this process. */
export function foundInMemory(pid: number, wanted: Record<string, Uint8Array>): string[] {
  const missing = new Map(Object.entries(wanted))
  const longest = Math.max(...Object.values(wanted).map(({ length }) => length))
  for (const text of usedMemory(pid, longest - 1)) {
    for (const [name, bytes] of missing) if (text.includes(bytes)) missing.delete(name)
  }
  return Object.keys(wanted).filter((name) => !missing.has(name))
}

/** Yields the used pages in pieces. Each piece ends with the first `overlap` bytes of what follows it. */
function* usedMemory(pid: number, overlap: number): Generator<Buffer> {
  const memory = openSync(`/proc/${pid}/mem`, 'r')
  const pagemap = openSync(`/proc/${pid}/pagemap`, 'r')
  try {
    for (const { from, to } of writableRegions(pid)) {
      for (let page = from; page < to; page += STEP) {
        for (const run of usedRuns(read(pagemap, page * 8, Math.min(STEP, to - page) * 8))) {
          const start = page + run.from
          const size = Math.min((run.to - run.from) * PAGE + overlap, (to - start) * PAGE)
          yield read(memory, start * PAGE, size)
        }
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

/** Runs of used pages. Reading an unused page would make the kernel allocate it. */
function* usedRuns(entries: Buffer): Generator<{ from: number; to: number }> {
  const count = entries.length / 8
  for (let from = 0; from < count; from += 1) {
    if (!isUsed(entries, from)) continue
    let to = from + 1
    while (to < count && isUsed(entries, to)) to += 1
    yield { from, to }
    from = to
  }
}

function isUsed(entries: Buffer, page: number): boolean {
  return ((entries[page * 8 + 7] ?? 0) & IN_USE) !== 0
}

/** Reads as much as exists: regions come and go while the process runs. */
function read(file: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  try {
    return bytes.subarray(0, readSync(file, bytes, 0, length, position))
  } catch {
    return bytes.subarray(0, 0)
  }
}
