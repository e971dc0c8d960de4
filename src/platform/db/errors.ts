/** What the database's errors mean to a caller. Their messages carry SQL and parameters: never shown. */
import { Fault } from '../fault.ts'

/** SQLSTATE classes and driver codes after which a repeat may well succeed. */
const TRANSIENT = [
  /^08/, // connection exceptions
  /^53/, // out of disk, memory or connections
  /^57P0[123]$/, // shut down, crashed, starting
  /^57014$/, // statement timeout
  /^40(001|P01)$/, // serialization failure, deadlock
  /^25006$/, // read-only: a standby took over
  /^58030$/, // I/O error
  /^CONNECT(ION)?_/,
  /^E(CONN(REFUSED|RESET)|PIPE|TIMEDOUT|HOSTUNREACH)$/,
  /^ENOENT$/,
]

/** 503 for a database that is away, full or shutting down; `null` for any other error. */
export function unavailableFault(error: unknown): Fault | null {
  const code = codeOf(error)
  if (code === null || !TRANSIENT.some((pattern) => pattern.test(code))) return null
  return new Fault('unavailable', { cause: error, headers: { 'retry-after': '2' } })
}

/** SQLSTATE 23505. */
export function isUniqueViolation(error: unknown): boolean {
  return codeOf(error) === '23505'
}

/** The code of an error or of what caused it: drizzle wraps the driver's. */
function codeOf(error: unknown): string | null {
  if (!(error instanceof Error)) return null
  if ('code' in error && typeof error.code === 'string') return error.code
  return codeOf(error.cause)
}
