/**
 * The audit records of the local proxy until the server has them, in an SQLite database. They survive a killed proxy, a
 * reboot and an unavailable server: a record is on disk before a credential is sent, and is removed only when the
 * server has it. Ids make a repeat harmless. The proxies of one user share the database. Each sends its own records and
 * those of ended proxies. Simultaneous requests share one transaction, and so one fsync.
 */
import type { Database } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { ProxyRecord } from '../record.ts'
import { countUsedBytes, OUTBOX_FILE, openOutboxDatabase } from './database.ts'

/** The owner of records. Other people's records are not sent. */
export type OutboxOwner = {
  server: string
  email: string
  workspace_id: string
  /** The agent that `--agent` named. */
  agent: string | null
}

export type StoredRecord = { id: string } & Record<string, unknown>

/** The next records to send, oldest first. */
export type Batch = { owner: OutboxOwner; records: StoredRecord[] }

type Options = {
  isAlive?: (pid: number) => boolean
  /** Above this, new requests are refused; outcomes are still accepted. */
  maxBytes?: number
}

type Write = {
  record: ProxyRecord
  kind: 'begun' | 'outcome' | 'complete'
  done: PromiseWithResolvers<void>
}

type Writer = { id: string; workspace_id: string; agent: string | null; pid: number }

/** About 400,000 requests. */
const MAX_BYTES = 256 * 1_048_576
const MAX_BATCH = 1000
const MAX_BATCH_BYTES = 2 * 1_048_576

/** Writers of this process that are open. */
const ownWriters = new Set<string>()

export class Outbox {
  readonly #directory: string
  readonly #owner: OutboxOwner
  readonly #isAlive: (pid: number) => boolean
  readonly #maxBytes: number
  readonly #writer = Bun.randomUUIDv7()
  #database: Database | null = null
  #waiting: Write[] = []
  #isClosed = false

  constructor(directory: string, owner: OutboxOwner, options: Options = {}) {
    this.#directory = directory
    this.#owner = owner
    this.#isAlive = options.isAlive ?? isRunning
    this.#maxBytes = options.maxBytes ?? MAX_BYTES
    ownWriters.add(this.#writer)
  }

  /**
   * Returns when the record is on disk; `end` adds the outcome.
   *
   * @throws Error when it cannot be stored, or the outbox is full
   */
  async begin(record: ProxyRecord): Promise<{ end(outcome: ProxyRecord): Promise<void> }> {
    await this.#store(record, 'begun')
    return { end: (outcome) => this.#store(outcome, 'outcome') }
  }

  /** A record that is complete. @throws Error as `begin` */
  add(record: ProxyRecord): Promise<void> {
    return this.#store(record, 'complete')
  }

  /** Returns the oldest records that can be sent by now, all of one owner; `null` when there are none. */
  takeNext(): Batch | null {
    this.#write()
    if (this.#isClosed || (this.#database === null && !existsSync(this.#path))) return null
    const database = this.#open()
    for (const writer of this.#writers(database)) {
      const records = this.#recordsOf(database, writer)
      const { workspace_id, agent } = writer
      if (records.length > 0) return { owner: { ...this.#owner, workspace_id, agent }, records }
      if (writer.id !== this.#writer) this.#forget(database, writer.id)
    }
    return null
  }

  /** Removes records that the server has. */
  remove(records: readonly StoredRecord[]): void {
    const ids = JSON.stringify(records.map(({ id }) => id))
    this.#open().run('DELETE FROM records WHERE id IN (SELECT value FROM json_each(?))', [ids])
  }

  /** Closes the outbox. Unsent records stay on disk for a later run. */
  close(): void {
    if (this.#isClosed) return
    this.#write()
    this.#isClosed = true
    ownWriters.delete(this.#writer)
    const database = this.#database
    this.#database = null
    try {
      if (database) this.#forget(database, this.#writer)
    } catch {
      // The next proxy forgets it.
    } finally {
      database?.close()
    }
  }

  get #path(): string {
    return join(this.#directory, OUTBOX_FILE)
  }

  #store(record: ProxyRecord, kind: Write['kind']): Promise<void> {
    if (this.#isClosed) return Promise.reject(new Error('the outbox is closed'))
    const done = Promise.withResolvers<void>()
    if (this.#waiting.length === 0) setImmediate(() => this.#write())
    this.#waiting.push({ record, kind, done })
    return done.promise
  }

  /** Writes waiting records in one transaction. */
  #write(): void {
    const writes = this.#waiting
    this.#waiting = []
    if (writes.length === 0) return
    try {
      const database = this.#open()
      database.transaction(() => this.#insert(database, writes)).immediate()
      for (const { done } of writes) done.resolve()
    } catch (error) {
      for (const { done } of writes) done.reject(error)
    }
  }

  #insert(database: Database, writes: readonly Write[]): void {
    const { server, email, workspace_id, agent } = this.#owner
    database
      .query('INSERT INTO writers VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING')
      .run(this.#writer, server, email, workspace_id, agent, process.pid)
    const upsert = database.query(
      `INSERT INTO records (id, writer, ended, record) VALUES (?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET ended = 1, record = excluded.record WHERE excluded.ended`,
    )
    const isFull = countUsedBytes(database) >= this.#maxBytes
    for (const { record, kind, done } of writes) {
      if (isFull && kind !== 'outcome') done.reject(new Error('the outbox is full'))
      else upsert.run(record.id, this.#writer, Number(kind !== 'begun'), JSON.stringify(record))
    }
  }

  /** Returns this owner's writers for this server: this process's, and those of ended processes. */
  #writers(database: Database): Writer[] {
    const { server, email } = this.#owner
    return database
      .query<Writer, [string, string]>(
        'SELECT id, workspace_id, agent, pid FROM writers WHERE server = ? AND email = ? ORDER BY id',
      )
      .all(server, email)
      .filter(({ id, pid }) => id === this.#writer || !this.#isUsed(id, pid))
  }

  /** A writer with this process's id that is not open here belongs to an ended process. */
  #isUsed(id: string, pid: number): boolean {
    return pid === process.pid ? ownWriters.has(id) : this.#isAlive(pid)
  }

  /** Returns the records of a writer. For an ended process, includes records that never got an outcome. */
  #recordsOf(database: Database, { id }: Writer): StoredRecord[] {
    const rows = database
      .query<{ record: string }, [string, number, number]>(
        'SELECT record FROM records WHERE writer = ? AND ended >= ? ORDER BY sequence LIMIT ?',
      )
      .all(id, Number(id === this.#writer), MAX_BATCH)
    let bytes = 0
    const fitting = rows.findIndex(({ record }) => {
      bytes += Buffer.byteLength(record)
      return bytes > MAX_BATCH_BYTES
    })
    const taken = fitting < 0 ? rows : rows.slice(0, Math.max(1, fitting))
    return taken.map(({ record }) => JSON.parse(record))
  }

  /** A writer without records needs no row. */
  #forget(database: Database, id: string): void {
    database.run(
      'DELETE FROM writers WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM records WHERE writer = ?1)',
      [id],
    )
  }

  /** Opened when it is first needed; after a failure, again. @throws Error */
  #open(): Database {
    if (this.#isClosed) throw new Error('the outbox is closed')
    this.#database ??= openOutboxDatabase(this.#directory)
    return this.#database
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // A process of another user: it runs.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
