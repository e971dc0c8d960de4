/**
 * The processor time that a process has used, the peak of its memory, and the longest time between two turns of its
 * event loop, in which it served no other request. Time of other processes does not count, so a busy machine causes
 * no stall.
 */
import { readFileSync, writeFileSync } from 'node:fs'

/** Since the last report. */
export type Cost = {
  /** The time of all threads, including the embedded database's. */
  cpuMs: number
  /** The peak of the resident memory. */
  peakMb: number
  /** The most processor time between two turns of the event loop. */
  stallMs: number
}

/** The shortest time between two turns of the event loop that is recorded, in milliseconds. */
const PROBE_MS = 2

let stallMs = 0
let usedMs = 0
let cpu = process.cpuUsage()

export function startProbe(): void {
  setInterval(() => {
    const now = threadMs()
    stallMs = Math.max(stallMs, now - usedMs)
    usedMs = now
  }, PROBE_MS)
  readCost()
}

export function readCost(): Cost {
  const used = process.cpuUsage(cpu)
  const cost = { cpuMs: (used.user + used.system) / 1000, peakMb: peakKb() / 1024, stallMs }
  Bun.gc(true)
  writeFileSync('/proc/self/clear_refs', '5')
  stallMs = 0
  usedMs = threadMs()
  cpu = process.cpuUsage()
  return cost
}

/** The time that this thread has used. */
export function threadMs(): number {
  const [nanoseconds] = readFileSync('/proc/self/schedstat', 'utf8').split(' ')
  return Number(nanoseconds) / 1e6
}

/** Kilobytes: the peak since the last report, if the system can reset a peak. */
function peakKb(): number {
  const status = readFileSync('/proc/self/status', 'utf8')
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0)
}
