/**
 * Statements that are built once. drizzle ties a statement to the connection or transaction that it was made with; here
 * it runs in any, and its text is not built again, which takes longer than sending it.
 */
import type postgres from 'postgres'
import type { Reading } from './open.ts'

/** `build` ends in `.prepare(name)`. Values that differ between calls are placeholders. */
export function prepareOnce<Statement extends object>(
  build: (db: Reading) => Statement,
): (db: Reading) => Statement {
  let built: Statement | undefined
  return (db) => {
    built ??= build(db)
    return Object.assign(Object.create(built), { client: clientOf(db) })
  }
}

/** The driver below, under names that drizzle does not export. */
export function clientOf(db: Reading): postgres.Sql {
  return (db as unknown as { session: { client: postgres.Sql } }).session.client
}
