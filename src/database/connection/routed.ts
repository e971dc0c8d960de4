/**
 * A client of the driver with statements that another one runs. A statement of the driver is a promise that is sent
 * when it is awaited; `handler` sends it.
 */
import type postgres from 'postgres'
import type { RepeatedStatements } from './repeated_statements.ts'

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
  repeated: RepeatedStatements
  /** Statements of drizzle, and those with an option `prepare`, are sent in the order of their creation. */
  isInOrder?: boolean
  begin?: (...args: unknown[]) => Promise<unknown>
  end?: (options?: { timeout?: number }) => Promise<void>
}

export function createRoutedClient(
  client: postgres.Sql,
  { route, repeated, isInOrder = false, ...methods }: Route,
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
      const prepare = options.prepare || repeated.see(text)
      const made = direct(unsafe(text, values, { ...options, prepare }))
      // A statement without the option may be read with a cursor, which must be set before it is sent.
      return isInOrder && options.prepare !== undefined ? made.execute() : made
    },
    notify: (channel: string, payload: string) =>
      sql`select pg_notify(${channel}, ${payload})` as Promise<unknown>,
  }) as unknown as postgres.Sql
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
