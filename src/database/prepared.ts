/**
 * Statements of every request. With a name the database reads and plans one once for each connection, and
 * the driver sends it in one message instead of two; here its text is made once too. A transaction makes its
 * own, since drizzle ties a statement to where it runs.
 */
import type { Reading } from './open.ts'

/** `build` ends in `.prepare(name)`; what differs between calls are placeholders. */
export function prepared<Statement extends object>(
  build: (db: Reading) => Statement,
): (db: Reading) => Statement {
  const built = new WeakMap<Reading, Statement>()
  return (db) => {
    const known = built.get(db)
    if (known) return known
    const statement = build(db)
    built.set(db, statement)
    return statement
  }
}
