/** Checks the resources that the settings need: open files, disk space, and a writable temporary folder. */
import { accessSync, constants, existsSync, readFileSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import type { Config } from '../../core/config/config.ts'
import { RESERVE_BYTES } from '../../database/embedded/upkeep.ts'
import { Failed } from './check.ts'

type Wanted = Pick<Config, 'DB_HOST' | 'ROLE' | 'RESOLVER_CONCURRENCY'>
export type Limits = {
  /** `null` if unknown. */
  openFiles: number | null
  /** Free bytes of DATA_DIR; `null` if unknown or if the directory does not exist yet. */
  freeBytes: number | null
  /** Whether it is writable. */
  temporary: { path: string; isWritable: boolean }
}

/** Open files of a running call: one from its agent, and one to its upstream. */
const FILES_PER_CALL = 2
/** Listeners, the database, logs and the runtime's files. */
const OTHER_FILES = 200

/** @throws Failed */
export function checkLimits(wanted: Wanted, limits: Limits): string {
  const calls = wanted.ROLE === 'control-plane' ? 0 : wanted.RESOLVER_CONCURRENCY
  const files = calls * FILES_PER_CALL + OTHER_FILES
  const { openFiles, freeBytes, temporary } = limits
  const problems = [
    openFiles !== null &&
      openFiles < files &&
      `the limit is ${openFiles} open files, but ${files} may be needed: raise ulimit -n or LimitNOFILE=, or lower RESOLVER_CONCURRENCY`,
    freeBytes !== null &&
      freeBytes < RESERVE_BYTES &&
      `DATA_DIR has ${megabytes(freeBytes)} MiB of free space; below ${megabytes(RESERVE_BYTES)} MiB, writes are refused`,
    !temporary.isWritable && `${temporary.path} is not writable: set TMPDIR`,
  ].filter((problem) => problem !== false)
  if (problems.length > 0) throw new Failed(problems.join('\n'))
  return `${openFiles ?? 'unknown'} open files${freeBytes === null ? '' : `, ${megabytes(freeBytes)} MiB free`}`
}

export function limitsOfSystem({ DB_HOST, DATA_DIR }: Config): Limits {
  return {
    openFiles: openFilesOfSystem(),
    freeBytes: DB_HOST === undefined && existsSync(DATA_DIR) ? freeBytesOf(DATA_DIR) : null,
    temporary: { path: tmpdir(), isWritable: isWritable(tmpdir()) },
  }
}

/** Reads the limit from a file on Linux. Other systems need another program for it. */
function openFilesOfSystem(): number | null {
  if (!existsSync('/proc/self/limits')) return null
  const [, limit] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
  return limit === undefined ? null : Number(limit)
}

export function freeBytesOf(directory: string): number {
  const { bavail, bsize } = statfsSync(directory)
  return bavail * bsize
}

function isWritable(directory: string): boolean {
  try {
    accessSync(directory, constants.W_OK | constants.X_OK)
    return true
  } catch {
    return false
  }
}

function megabytes(bytes: number): number {
  return Math.floor(bytes / 1024 / 1024)
}
