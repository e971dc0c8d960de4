/**
 * Plaintext credentials travel in this type only. It prints as `[redacted]` in logs, templates,
 * JSON and inspectors, so that a careless line of code cannot leak what it holds.
 */
const REDACTED = '[redacted]'

export class Secret {
  readonly #bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /** The value itself. Call it only where the value goes on the wire or into a cipher. */
  reveal(): Uint8Array {
    return this.#bytes
  }

  toString(): string {
    return REDACTED
  }

  toJSON(): string {
    return REDACTED
  }

  [Symbol.toPrimitive](): string {
    return REDACTED
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return REDACTED
  }
}
