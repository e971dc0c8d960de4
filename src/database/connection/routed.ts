/**
 * A client of the driver whose statements another one runs. A statement of the driver is a promise that is sent when
 * it is awaited; `handler` is what sends it.
 */
import type postgres from 'postgres'

export type Routed = Promise<unknown> & {
  /** The parts of its text. */
  strings: readonly string[]
  handler(query: Routed): void
  resolve(rows: unknown): void
  reject(error: unknown): void
}

type Route = {
  route(query: Routed): void
  begin?: (...args: unknown[]) => Promise<unknown>
  end?: (options?: { timeout?: number }) => Promise<void>
}

export function routed(client: postgres.Sql, { route, ...methods }: Route): postgres.Sql {
  const send = (query: Routed) => {
    const { resolve } = query
    query.resolve = (rows) => resolve(withoutHoles(rows))
    route(query)
  }
  const direct = (made: unknown) =>
    isStatement(made) ? Object.assign(made, { handler: send }) : made
  const call = client as unknown as (...args: unknown[]) => unknown
  const unsafe = client.unsafe as unknown as typeof call
  const sql = (...args: unknown[]) => direct(call(...args))
  return Object.assign(sql, client, methods, {
    unsafe: (...args: unknown[]) => direct(unsafe(...args)),
    notify: (channel: string, payload: string) =>
      sql`select pg_notify(${channel}, ${payload})` as Promise<unknown>,
  }) as unknown as postgres.Sql
}

/** What sends a statement on this client. */
export function handlerOf(client: postgres.Sql): (query: Routed) => void {
  return (client`` as unknown as Routed).handler
}

/** The driver counts the rows before an error to the next statement's. */
function withoutHoles(rows: unknown): unknown {
  if (Array.isArray(rows)) while (rows.length > 0 && !(0 in rows)) rows.shift()
  return rows
}

function isStatement(value: unknown): value is Routed {
  return value instanceof Promise && 'handler' in value
}
