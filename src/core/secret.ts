/**
 * Plaintext credentials travel in this type only. It prints as `[redacted]` in logs, templates, JSON and inspectors, so
 * that code cannot accidentally leak the value.
 */
const REDACTED = '[redacted]'

export class Secret {
  readonly #bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /** Returns the value. Call it only to send the value or to encrypt it. */
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
