/**
 * An HTTP/2 connection with limited frames per turn. The runtime bounds some floods (pings, settings, empty data,
 * endless headers: it ends the connection). It reads window updates, priorities, unknown frames, resets and interim
 * answers without a limit. Here, each frame counts, whatever its type (RFC 9113, sections 4.1 and 10.5).
 */
import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'

const HEADER_BYTES = 9
/** Bytes that a client sends before its first frame (RFC 9113, section 3.4). */
export const PREFACE_BYTES = 24
/** Frames that are passed on together. */
const PORTION = 32

type Options = {
  /** Resolves when this number of frames may be handled; `null` if they may be handled now. */
  turn(frames: number): Promise<void> | null
  /** Bytes before the first frame. */
  skipped?: number
}

export class MeteredWire extends Duplex {
  readonly #wire: Socket
  readonly #turn: Options['turn']
  /** Bytes until the next header, or behind the beginning of one. */
  #left: number
  #header: number[] = []
  #wanted = Promise.withResolvers<void>()

  constructor(wire: Socket, { turn, skipped = 0 }: Options) {
    super()
    this.#wire = wire
    this.#turn = turn
    this.#left = skipped
    wire.on('data', (chunk: Buffer) => void this.#receive(chunk))
    wire.once('end', () => this.push(null))
    wire.on('error', (error) => this.destroy(error))
    wire.once('close', () => this.destroy())
  }

  override _read(): void {
    this.#wanted.resolve()
  }

  override _write(chunk: Buffer, encoding: BufferEncoding, done: () => void): void {
    if (this.#wire.write(chunk, encoding)) done()
    else this.#wire.once('drain', done)
  }

  override _final(done: () => void): void {
    this.#wire.end(done)
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#wanted.resolve()
    this.#wire.destroy()
    done(error)
  }

  /** In portions. The wire is not read meanwhile. */
  async #receive(chunk: Buffer): Promise<void> {
    this.#wire.pause()
    for (let from = 0; from < chunk.length && !this.destroyed; ) {
      const { to, frames } = this.#portionOf(chunk, from)
      // Also counts partial frames: data in single bytes costs work, too.
      const turn = this.#turn(Math.max(1, frames))
      if (turn) await turn
      if (this.destroyed) return
      // Before the push: the reader may immediately request more.
      this.#wanted = Promise.withResolvers()
      if (!this.push(chunk.subarray(from, to))) await this.#wanted.promise
      from = to
    }
    if (!this.destroyed) this.#wire.resume()
  }

  /** Returns the portion from `from` up to the header of the first excess frame, or the end. */
  #portionOf(chunk: Buffer, from: number): { to: number; frames: number } {
    let [at, frames] = [from, 0]
    while (at < chunk.length && frames < PORTION) {
      const skipped = Math.min(this.#left, chunk.length - at)
      this.#left -= skipped
      at += skipped
      while (this.#left === 0 && at < chunk.length && this.#header.length < HEADER_BYTES) {
        this.#header.push(chunk[at++] ?? 0)
      }
      if (this.#header.length < HEADER_BYTES) continue
      const [high = 0, middle = 0, low = 0] = this.#header
      this.#left = (high << 16) | (middle << 8) | low
      this.#header = []
      frames += 1
    }
    return { to: at, frames }
  }
}
