/**
 * A client of the driver with statements that another one runs. A statement of the driver is a promise that is sent
 * when it is awaited; `handler` sends it.
 */
import type postgres from 'postgres'

export type Routed = Promise<unknown> & {
  /** The parts of its text. */
  strings: readonly string[]
  handler(query: Routed): void
  execute(): Routed
  resolve(rows: unknown): void
  reject(error: unknown): void
}

type Options = { prepare?: boolean }
type Unsafe = (text: string, values: unknown[], options: Options) => Routed

type Route = {
  route(query: Routed): void
  /** Statements of drizzle, and those with an option `prepare`, are sent in the order of their creation. */
  isInOrder?: boolean
  begin?: (...args: unknown[]) => Promise<unknown>
  end?: (options?: { timeout?: number }) => Promise<void>
}

export function routed(
  client: postgres.Sql,
  { route, isInOrder = false, ...methods }: Route,
): postgres.Sql {
  const send = (query: Routed) => {
    const { resolve } = query
    query.resolve = (rows) => resolve(withoutHoles(rows))
    route(query)
  }
  const direct = <Made>(made: Made) =>
    isStatement(made) ? Object.assign(made, { handler: send }) : made
  const call = client as unknown as (...args: unknown[]) => unknown
  const unsafe = client.unsafe as unknown as Unsafe
  const sql = (...args: unknown[]) => direct(call(...args))
  return Object.assign(sql, client, methods, {
    unsafe: (text: string, values: unknown[] = [], options: Options = {}) => {
      const prepare = options.prepare || isRepeated(text)
      const made = direct(unsafe(text, values, { ...options, prepare }))
      // A statement without the option may be read with a cursor, which must be set before it is sent.
      return isInOrder && options.prepare !== undefined ? made.execute() : made
    },
    notify: (channel: string, payload: string) =>
      sql`select pg_notify(${channel}, ${payload})` as Promise<unknown>,
  }) as unknown as postgres.Sql
}

/** The most statements, and the most characters of one, that are prepared without an option. */
const MAX_REPEATED = 300
const MAX_LENGTH = 2_000
/** Matches searches of the audit: the planner must see their values, because the database's statistics decide. */
const SEARCHES = /audit_/

const seen = new Set<string>()
const repeated = new Set<string>()

/**
 * Whether a statement was sent before. An unprepared statement with parameters takes two round trips and is planned
 * each time. A list of values has a different text for each length, so the number of prepared ones is bounded.
 */
function isRepeated(text: string): boolean {
  if (repeated.has(text)) return true
  if (text.length > MAX_LENGTH || SEARCHES.test(text)) return false
  if (!seen.has(text)) {
    if (seen.size >= MAX_REPEATED) seen.clear()
    seen.add(text)
    return false
  }
  if (repeated.size < MAX_REPEATED) repeated.add(text)
  return repeated.has(text)
}

/** Returns the function that sends a statement on this client. */
export function handlerOf(client: postgres.Sql): (query: Routed) => void {
  return (client`` as unknown as Routed).handler
}

/** Removes empty elements: the driver adds the row count before an error to the next statement's rows. */
function withoutHoles(rows: unknown): unknown {
  if (Array.isArray(rows)) while (rows.length > 0 && !(0 in rows)) rows.shift()
  return rows
}

function isStatement(value: unknown): value is Routed {
  return value instanceof Promise && 'handler' in value
}
