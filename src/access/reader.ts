/**
 * Reads of the database that give up: a server that holds still, or a network that swallows packets, must
 * end in 503 and not in requests that wait without end.
 */
import type postgres from 'postgres'
import { withTimeout } from '../core/async/timeout.ts'
import { Fault } from '../core/fault.ts'

/** `reader<Row[]>\`select …\``, like the driver's own tag. */
export type AccessReader = <Rows extends readonly object[]>(
  parts: TemplateStringsArray,
  ...values: string[]
) => Promise<Rows>

/** Milliseconds. */
const TIMEOUT_MS = 5_000

/** The reader throws the driver's errors, and Fault `unavailable` when the database takes too long. */
export function openReader(
  sql: postgres.Sql | postgres.TransactionSql,
  timeoutMs = TIMEOUT_MS,
): AccessReader {
  return <Rows extends readonly object[]>(parts: TemplateStringsArray, ...values: string[]) => {
    const query: PromiseLike<unknown> = sql(parts, ...values)
    return withTimeout(timeoutMs, query, () => new Fault('unavailable')) as Promise<Rows>
  }
}
