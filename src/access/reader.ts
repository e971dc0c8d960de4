/**
 * Database reads with a deadline: a frozen server, or a network that loses packets, must end in 503 and not in requests
 * that wait forever.
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

/** A read statement. */
export type SentRead = { parts: TemplateStringsArray; values: string[] }

/** Maximum statements of one decision. Usually about six. */
const MAX_AHEAD = 20

/**
 * Sends all statements in `asked` together, and returns the rows of each when it is read. New reads are added to
 * `asked` for the next reader.
 */
export function readAhead(read: AccessReader, asked: SentRead[]): AccessReader {
  const sent = asked.map(({ parts, values }) => {
    const rows = read(parts, ...values)
    rows.catch(() => {})
    return { name: nameOf(parts, values), rows: rows as Promise<unknown> }
  })
  return <Rows extends readonly object[]>(parts: TemplateStringsArray, ...values: string[]) => {
    const name = nameOf(parts, values)
    const at = sent.findIndex((each) => each.name === name)
    if (at >= 0) return sent.splice(at, 1)[0]?.rows as Promise<Rows>
    if (asked.length < MAX_AHEAD) asked.push({ parts, values })
    return read<Rows>(parts, ...values)
  }
}

function nameOf(parts: TemplateStringsArray, values: string[]): string {
  return JSON.stringify([parts, values])
}
