/** Maps database errors to faults. Their messages contain SQL and parameters, and are never shown. */
import { Fault } from '../core/fault.ts'

/** SQLSTATE classes and driver codes of a database that is unavailable. */
const UNAVAILABLE = [
  /^08/, // connection exceptions
  /^57P0[123]$/, // shut down, crashed, starting
  /^28(000|P01)$/, // sign-in refused, for example after a lockout of the user
  /^(CONNECT(ION)?|SASL)_/,
  /^E(CONN(REFUSED|RESET)|PIPE|TIMEDOUT|HOSTUNREACH)$/,
  /^ENOENT$/,
]

/** SQLSTATE classes and codes of a database that answers, but does not execute the statement. */
const UNWILLING = [
  /^53/, // out of disk, memory or connections
  /^57014$/, // statement timeout
  /^55P03$/, // another session keeps a lock
  /^40(001|P01)$/, // serialization failure, deadlock
  /^25006$/, // read-only: a standby took over
  /^58030$/, // I/O error
]

/** 503 for a database that is unavailable, full or shutting down; `null` for any other error. */
export function unavailableFault(error: unknown): Fault | null {
  if (!isOneOf([...UNAVAILABLE, ...UNWILLING], error)) return null
  return new Fault('unavailable', { cause: error, headers: { 'retry-after': '2' } })
}

/** Whether the database answers, but refuses writes, or this write. */
export function isUnwilling(error: unknown): boolean {
  return isOneOf(UNWILLING, error)
}

/** Whether a statement failed only because one before it in its transaction had: SQLSTATE 25P02. */
export function isAftermath(error: unknown): boolean {
  return codeOf(error) === '25P02'
}

/** SQLSTATE 23505. */
export function isUniqueViolation(error: unknown): boolean {
  return codeOf(error) === '23505'
}

/** 409 where two requests used one ID at the same moment (migration 0022); `null` for any other error. */
export function toUsedIdFault(error: unknown): Fault | null {
  if (!isUniqueViolation(error) || constraintOf(error) !== 'used_ids_kind_id_pk') return null
  return new Fault('already_exists', { cause: error, message: 'This ID was used before.' })
}

/** Whether an error, or its cause, has one of these codes. */
function isOneOf(patterns: readonly RegExp[], error: unknown): boolean {
  const code = codeOf(error)
  return code !== null && patterns.some((pattern) => pattern.test(code))
}

/** Returns the code of an error or of its cause: drizzle wraps the driver's. */
function codeOf(error: unknown): string | null {
  if (!(error instanceof Error)) return null
  if ('code' in error && typeof error.code === 'string') return error.code
  return codeOf(error.cause)
}

/** PGlite's errors and those of postgres.js name it differently. */
function constraintOf(error: unknown): string | null {
  if (!(error instanceof Error)) return null
  if ('constraint_name' in error) return String(error.constraint_name)
  if ('constraint' in error) return String(error.constraint)
  return constraintOf(error.cause)
}
