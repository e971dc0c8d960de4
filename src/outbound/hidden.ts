/**
 * What carries opened values prints as its name, whichever way it is printed: a careless line of code
 * cannot leak what it holds. Everything that it holds is in private fields.
 */
export abstract class Unprintable {
  toString(): string {
    return `[${this.constructor.name}]`
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
