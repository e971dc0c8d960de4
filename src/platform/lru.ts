/**
 * A bounded map: beyond `max` entries the least recently used leaves. With `expiry` an entry also leaves
 * a fixed time after it was set, however often it is read.
 */
import type { Clock } from './clock.ts'

type Entry<V> = { value: V; until: number }

type Options<V> = {
  max: number
  expiry?: { ms: number; clock: Clock }
  /** Called for what leaves by itself: over the bound, or expired. Not for what the owner removes. */
  onEvict?: (value: V) => void
}

export class LruMap<K, V> {
  readonly #max: number
  readonly #expiry: Options<V>['expiry']
  readonly #onEvict: (value: V) => void
  // Least recently used first: a Map keeps the order of insertion.
  readonly #entries = new Map<K, Entry<V>>()

  constructor({ max, expiry, onEvict = () => {} }: Options<V>) {
    this.#max = max
    this.#expiry = expiry
    this.#onEvict = onEvict
  }

  /** The value, which becomes the most recently used. */
  get(key: K): V | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    this.#entries.delete(key)
    if (this.#isOver(entry)) {
      this.#onEvict(entry.value)
      return undefined
    }
    this.#entries.set(key, entry)
    return entry.value
  }

  /** The value, which stays as recently used as it was. */
  peek(key: K): V | undefined {
    const entry = this.#entries.get(key)
    return entry === undefined || this.#isOver(entry) ? undefined : entry.value
  }

  set(key: K, value: V): void {
    const until = this.#expiry ? this.#expiry.clock.now() + this.#expiry.ms : Infinity
    this.#entries.delete(key)
    this.#entries.set(key, { value, until })
    if (this.#entries.size <= this.#max) return
    for (const [oldest, entry] of this.#entries) {
      this.#entries.delete(oldest)
      this.#onEvict(entry.value)
      return
    }
  }

  delete(key: K): boolean {
    return this.#entries.delete(key)
  }

  clear(): void {
    this.#entries.clear()
  }

  /** Evicts what has expired. */
  sweep(): void {
    for (const [key, entry] of this.#entries) {
      if (!this.#isOver(entry)) continue
      this.#entries.delete(key)
      this.#onEvict(entry.value)
    }
  }

  /** Also counts what has expired and was not looked at since. */
  get size(): number {
    return this.#entries.size
  }

  *[Symbol.iterator](): Generator<[K, V]> {
    for (const [key, { value }] of this.#entries) yield [key, value]
  }

  #isOver({ until }: Entry<V>): boolean {
    return this.#expiry !== undefined && until <= this.#expiry.clock.now()
  }
}
