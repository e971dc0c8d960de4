/**
 * A guard of a long answer: it also searches the rest of the answer for values that were derived after the call was
 * decided (protocol 13.4). The bytes pass the first guard and then the newest one.
 */
import type { Guard } from '../leak_guard/index.ts'
import {
  type AnswerGuard,
  type CredentialGuard,
  type GuardedBodyKind,
  PART,
  type StreamGuard,
} from './guard.ts'
import { Unprintable } from './hidden.ts'

export class FollowingGuard extends Unprintable implements AnswerGuard {
  readonly #first: CredentialGuard
  readonly #open: (prepared: Guard) => CredentialGuard
  #later: CredentialGuard | null = null
  #wasRedacted = false

  /** @param open makes the guard of values that are derived later */
  constructor(first: CredentialGuard, open: (prepared: Guard) => CredentialGuard) {
    super()
    this.#first = first
    this.#open = open
  }

  follow(prepared: Guard): void {
    this.#wasRedacted ||= this.#later?.redacted ?? false
    this.#later = this.#open(prepared)
  }

  get redacted(): boolean {
    return this.#first.redacted || this.#wasRedacted || (this.#later?.redacted ?? false)
  }

  redactBody(body: Uint8Array, kind?: GuardedBodyKind): Uint8Array | Promise<Uint8Array> {
    const redacted = this.#first.redactBody(body, kind)
    const later = this.#later
    if (later === null) return redacted
    if (!(redacted instanceof Promise)) return later.redactBody(redacted, kind)
    return redacted.then((bytes) => later.redactBody(bytes, kind))
  }

  redactHeaders(headers: Record<string, string>): Record<string, string> {
    const redacted = this.#first.redactHeaders(headers)
    return this.#later?.redactHeaders(redacted) ?? redacted
  }

  openStream(kind?: GuardedBodyKind): StreamGuard {
    const first = this.#first.openStream(kind)
    const second = new LaterStream(() => this.#later, kind)
    return {
      pushNow: (chunk) => second.pushNow(first.pushNow(chunk)),
      push: (chunk) => (this.#later ? second.pushAll(first.push(chunk)) : first.push(chunk)),
      flush: () => second.flush(first.flush()),
    }
  }
}

/** The newest guard's part of a stream. It begins in the middle of a body. */
class LaterStream {
  readonly #newest: () => CredentialGuard | null
  readonly #kind: GuardedBodyKind | undefined
  #guard: CredentialGuard | null = null
  #stream: StreamGuard | null = null

  constructor(newest: () => CredentialGuard | null, kind: GuardedBodyKind | undefined) {
    this.#newest = newest
    this.#kind = kind === PART ? PART : undefined
  }

  async *pushAll(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
    for await (const piece of pieces) {
      const held = this.#follow()
      if (this.#stream === null) yield piece
      else if (held.length === 0) yield* this.#stream.push(piece)
      else yield* this.#stream.push(Buffer.concat([held, piece]))
    }
  }

  pushNow(piece: Uint8Array): Uint8Array {
    const held = this.#follow()
    return this.#stream?.pushNow(Buffer.concat([held, piece])) ?? piece
  }

  flush(rest: Uint8Array): Uint8Array {
    const pushed = this.pushNow(rest)
    return this.#stream ? Buffer.concat([pushed, this.#stream.flush()]) : pushed
  }

  /** The bytes that an earlier guard's stream held back. */
  #follow(): Uint8Array {
    const newest = this.#newest()
    if (newest === this.#guard || newest === null) return NO_BYTES
    const held = this.#stream?.flush() ?? NO_BYTES
    this.#guard = newest
    this.#stream = newest.openStream(this.#kind)
    return held
  }
}

const NO_BYTES = new Uint8Array()
