/**
 * Reassembles the pieces from a socket into whole messages of the PostgreSQL frontend protocol, version 3 (PostgreSQL
 * documentation, chapter "Frontend/Backend Protocol"). PostgreSQL in PGlite reads from memory and takes half a message
 * for the end of the connection, so it may never get incomplete ones.
 */

const INITIAL_CAPACITY = 64 * 1024
/** PostgreSQL's own limit for a start-up packet. */
const STARTUP_LIMIT = 10_000
/** PostgreSQL's own limit for a message (PQ_LARGE_MESSAGE_LIMIT), 1 GiB. */
const MESSAGE_LIMIT = 0x3fffffff
const TERMINATE = 'X'.charCodeAt(0)

export class Inbox {
  #buffer = Buffer.alloc(INITIAL_CAPACITY)
  #length = 0

  append(chunk: Uint8Array): void {
    this.#reserve(this.#length + chunk.length)
    this.#buffer.set(chunk, this.#length)
    this.#length += chunk.length
  }

  /**
   * The packet that opens a connection: a length and a body, without a type.
   * @returns null as long as it is incomplete.
   * @throws {Error} if the length is impossible.
   */
  takeStartup(): Buffer | null {
    if (this.#length < 8) return null
    const size = this.#buffer.readInt32BE(0)
    if (size < 8 || size > STARTUP_LIMIT) throw new Error('malformed start-up packet')
    return size <= this.#length ? this.#take(size) : null
  }

  /**
   * All complete messages up to a Terminate, in one piece: each has a type of one byte and a length that includes
   * itself.
   * @returns null if absent; 'terminate' if the next message is Terminate.
   * @throws {Error} if a length is impossible.
   */
  takeMessages(): Buffer | 'terminate' | null {
    let end = 0
    while (this.#length - end >= 5 && this.#buffer[end] !== TERMINATE) {
      const size = this.#buffer.readInt32BE(end + 1)
      if (size < 4 || size > MESSAGE_LIMIT) throw new Error('malformed message')
      if (end + 1 + size > this.#length) break
      end += 1 + size
    }
    if (end > 0) return this.#take(end)
    return this.#length > 0 && this.#buffer[0] === TERMINATE ? 'terminate' : null
  }

  /** Copies, so that PostgreSQL's input does not change during its reading. */
  #take(size: number): Buffer {
    const taken = Buffer.from(this.#buffer.subarray(0, size))
    this.#buffer.copyWithin(0, size, this.#length)
    this.#length -= size
    if (this.#length === 0 && this.#buffer.length > INITIAL_CAPACITY) {
      this.#buffer = Buffer.alloc(INITIAL_CAPACITY)
    }
    return taken
  }

  #reserve(needed: number): void {
    if (needed <= this.#buffer.length) return
    const grown = Buffer.alloc(Math.max(needed, this.#buffer.length * 2))
    this.#buffer.copy(grown, 0, 0, this.#length)
    this.#buffer = grown
  }
}
