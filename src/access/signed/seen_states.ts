/**
 * The newest state that was seen of each signed workspace: its longest chain, and the newest manifest of each
 * environment. A file outside the database survives restarts and is shared by the processes of a machine. Without one,
 * it is a temporary SQLite file of the process, so memory does not grow with it.
 */
import { Database } from 'bun:sqlite'
import { closeSync, openSync } from 'node:fs'
import { type Clock, systemClock } from '../../core/clock.ts'
import { ConfigError } from '../../core/config/config.ts'
import { describeError, type Log } from '../../core/log.ts'
import { type Granted, placeNameOf } from '../snapshots/snapshot.ts'

/** A chain: number and hash of its newest link. A manifest: its revision, its root, and the link that it names. */
export type SeenState = { number: number; hash: string; head: number }

type Options = { file?: string | undefined; log?: Log | undefined; clock?: Clock }

/** Returns the name under which an environment's newest manifest is kept. A chain is kept by its workspace's id. */
export function formatSeenName(workspaceId: string, place: Granted): string {
  return `${workspaceId}/${placeNameOf(place)}`
}

/** Milliseconds between reads of the states that other processes keep in the file. */
const LOOK_MS = 1_000

export class SeenStates {
  readonly #database: Database
  readonly #log: Log | undefined
  readonly #clock: Clock
  #kept = 0

  /** @throws ConfigError for a file that cannot be used */
  constructor({ file, log, clock = systemClock }: Options = {}) {
    this.#log = log
    this.#clock = clock
    this.#database = file === undefined ? openDatabaseFile('') : openFile(file)
  }

  /** Grows with each kept state, and each second. While it is unchanged, no newer state was seen. */
  get era(): number {
    return this.#kept + Math.floor(this.#clock.now() / LOOK_MS)
  }

  get(name: string): SeenState | undefined {
    const found = this.#database
      .query<SeenState, [string]>('select number, hash, head from seen where name = ?')
      .get(name)
    return found ?? undefined
  }

  /** Keeps a state that is newer than all states seen by any process. A full disk is not an error. */
  see(name: string, { number, hash, head }: SeenState): void {
    this.#kept += 1
    try {
      this.#database.query(KEEP).run(name, number, hash, head)
    } catch (error) {
      this.#log?.error(LINE, describeError(error))
    }
  }

  close(): void {
    this.#database.close()
  }
}

const KEEP = `insert into seen (name, number, hash, head) values (?, ?, ?, ?)
  on conflict (name) do update set number = excluded.number, hash = excluded.hash, head = excluded.head
  where excluded.number > seen.number`
const LINE = 'the verified state of a signed workspace cannot be saved: check SIGNED_STATE_FILE'

function openFile(file: string): Database {
  try {
    // Create the file with this mode, so that nobody else can read it: SQLite gives its other files the same mode.
    closeSync(openSync(file, 'a', 0o600))
    return openDatabaseFile(file)
  } catch {
    throw new ConfigError([
      'SIGNED_STATE_FILE: cannot be used as an SQLite file (example: /var/lib/cloakroom/signed_state.sqlite)',
    ])
  }
}

/** A crash during a write leaves the previous state. A power failure may leave an older one. */
function openDatabaseFile(file: string): Database {
  const database = new Database(file)
  database.run('pragma busy_timeout = 2000')
  database.run('pragma journal_mode = wal')
  database.run('pragma synchronous = normal')
  database.run(`create table if not exists seen (
    name text primary key, number integer not null, hash text not null, head integer not null
  ) strict, without rowid`)
  return database
}
