/** The database of the outbox: readable by its user only, and on disk whenever a commit returns. */
import { Database } from 'bun:sqlite'
import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'

export const OUTBOX_FILE = 'outbox.sqlite'
/** Milliseconds that a transaction of another proxy may take. */
const BUSY_TIMEOUT_MS = 5_000

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS writers (
    id TEXT PRIMARY KEY,
    server TEXT NOT NULL,
    email TEXT NOT NULL,
    workspace_id TEXT NOT NULL,
    agent TEXT,
    pid INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS records (
    sequence INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    writer TEXT NOT NULL,
    ended INTEGER NOT NULL,
    record TEXT NOT NULL CHECK (json_valid(record))
  ) STRICT;
  CREATE INDEX IF NOT EXISTS records_by_writer ON records (writer, sequence);
`

/** Files that SQLite puts beside the database get its mode. @throws Error */
export function openOutboxDatabase(directory: string): Database {
  const path = join(directory, OUTBOX_FILE)
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  chmodSync(directory, 0o700)
  closeSync(openSync(path, 'a', 0o600))
  chmodSync(path, 0o600)
  const database = new Database(path)
  try {
    database.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
    database.run('PRAGMA journal_mode = WAL')
    // A commit returns when it is on disk; on macOS that takes more than fsync.
    database.run('PRAGMA synchronous = FULL')
    database.run('PRAGMA fullfsync = ON')
    database.run(SCHEMA)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/** Without pages that are free for new records. */
export function countUsedBytes(database: Database): number {
  const used = database
    .query<{ bytes: number }, []>(
      `SELECT (page_count - freelist_count) * page_size AS bytes
       FROM pragma_page_count, pragma_freelist_count, pragma_page_size`,
    )
    .get()
  return used?.bytes ?? 0
}
