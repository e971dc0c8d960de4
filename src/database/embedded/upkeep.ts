/**
 * Replaces PostgreSQL's background processes, which PGlite lacks: runs checkpoints, so that the log does not grow
 * without bound, and refuses writes before the disk is full. A PostgreSQL that cannot write its log aborts, and then
 * reads would fail, too.
 */

/** Four segments of 16 MiB: `max_wal_size`, which nothing else checks. */
const SEGMENTS_PER_CHECKPOINT = 4
/** Enough for the log of running work, a checkpoint, and a shutdown. */
export const RESERVE_BYTES = 96 * 1024 * 1024
/** Writes are accepted again only well above the reserve, so that the state does not flap. */
const RELIEF_BYTES = RESERVE_BYTES + 32 * 1024 * 1024
const LOOK_EVERY_MS = 250

export type UpkeepSurroundings = {
  /** Milliseconds of a monotonic clock. */
  now(): number
  /** Bytes that an ordinary user may still write on the data directory's disk. */
  freeBytes(): number
  /** New log segments since the last call. */
  takeSegments(): number
}

export type Execute = (statement: string) => Promise<unknown>

export class DatabaseUpkeep {
  readonly #surroundings: UpkeepSurroundings
  #segments = 0
  #lookedAt = Number.NEGATIVE_INFINITY
  #isReadOnly = false

  constructor(surroundings: UpkeepSurroundings) {
    this.#surroundings = surroundings
  }

  /**
   * Call this between transactions, before the next statement. After a refusal, writes fail with SQLSTATE 25006
   * (read_only_sql_transaction).
   */
  async attend(execute: Execute): Promise<void> {
    this.#segments += this.#surroundings.takeSegments()
    if (this.#segments >= SEGMENTS_PER_CHECKPOINT) await this.#checkpoint(execute)
    const now = this.#surroundings.now()
    if (now - this.#lookedAt < LOOK_EVERY_MS) return
    this.#lookedAt = now
    await this.#guardDisk(execute)
  }

  /** A new session starts with the defaults. */
  beginSession(): void {
    this.#isReadOnly = false
    this.#lookedAt = Number.NEGATIVE_INFINITY
  }

  async #checkpoint(execute: Execute): Promise<void> {
    this.#segments = 0
    await execute('CHECKPOINT')
  }

  async #guardDisk(execute: Execute): Promise<void> {
    const free = this.#surroundings.freeBytes()
    const isReadOnly = free < (this.#isReadOnly ? RELIEF_BYTES : RESERVE_BYTES)
    if (isReadOnly === this.#isReadOnly) return
    this.#isReadOnly = isReadOnly
    if (isReadOnly) await this.#checkpoint(execute)
    await execute(`SET default_transaction_read_only = ${isReadOnly ? 'on' : 'off'}`)
  }
}
