/**
 * Prints only its name in every format, so that code cannot accidentally log decrypted values. Subclasses keep
 * everything in private fields.
 */
export abstract class Unprintable {
  toString(): string {
    return '[hidden]'
  }

  toJSON(): string {
    return this.toString()
  }

  [Symbol.toPrimitive](): string {
    return this.toString()
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return this.toString()
  }
}

/** Parts of a request that have values in them. */
export class Hidden<T> extends Unprintable {
  readonly #content: T

  constructor(content: T) {
    super()
    this.#content = content
  }

  /** Call it only to send the values. */
  reveal(): T {
    return this.#content
  }
}
