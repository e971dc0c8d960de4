/**
 * A bounded map: above `max` entries, the least recently used is evicted. With `expiry`, an entry also expires a fixed
 * time after it was set, regardless of reads.
 *
 * The package lru-cache was tried. It reserves its memory in advance (4.3 MB for each map of 100,000 entries, and an
 * idle server has a dozen), and a read takes 120 ns instead of 46.
 */
import type { Clock } from './clock.ts'

/** One of a list, from the least recently used to the most. */
type Entry<K, V> = {
  key: K
  value: V
  until: number
  older: Entry<K, V> | undefined
  newer: Entry<K, V> | undefined
}

type Options<V> = {
  max: number
  expiry?: { ms: number; clock: Clock }
  /** Called for evicted entries: over the bound, or expired. Not called for entries that the owner removes. */
  onEvict?: (value: V) => void
}

export class LruMap<K, V> {
  readonly #max: number
  readonly #expiry: Options<V>['expiry']
  readonly #onEvict: (value: V) => void
  readonly #entries = new Map<K, Entry<K, V>>()
  #oldest: Entry<K, V> | undefined
  #newest: Entry<K, V> | undefined

  constructor({ max, expiry, onEvict = () => {} }: Options<V>) {
    this.#max = max
    this.#expiry = expiry
    this.#onEvict = onEvict
  }

  /** The value, which becomes the most recently used. */
  get(key: K): V | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    if (this.#isOver(entry)) {
      this.#remove(entry)
      this.#onEvict(entry.value)
      return undefined
    }
    this.#touch(entry)
    return entry.value
  }

  /** The value, which stays as recently used as it was. */
  peek(key: K): V | undefined {
    const entry = this.#entries.get(key)
    return entry === undefined || this.#isOver(entry) ? undefined : entry.value
  }

  set(key: K, value: V): void {
    const until = this.#expiry ? this.#expiry.clock.now() + this.#expiry.ms : Infinity
    const known = this.#entries.get(key)
    if (known) {
      known.value = value
      known.until = until
      this.#touch(known)
      return
    }
    const entry = { key, value, until, older: undefined, newer: undefined }
    this.#entries.set(key, entry)
    this.#append(entry)
    const oldest = this.#oldest
    if (this.#entries.size <= this.#max || oldest === undefined) return
    this.#remove(oldest)
    this.#onEvict(oldest.value)
  }

  delete(key: K): boolean {
    const entry = this.#entries.get(key)
    if (entry) this.#remove(entry)
    return entry !== undefined
  }

  clear(): void {
    this.#entries.clear()
    this.#oldest = undefined
    this.#newest = undefined
  }

  /** Evicts expired entries. */
  sweep(): void {
    for (const entry of this.#walk()) {
      if (!this.#isOver(entry)) continue
      this.#remove(entry)
      this.#onEvict(entry.value)
    }
  }

  /** The number of entries, including expired ones that were not read since. */
  get size(): number {
    return this.#entries.size
  }

  *[Symbol.iterator](): Generator<[K, V]> {
    for (const { key, value } of this.#walk()) yield [key, value]
  }

  /** Walks the entries. A removed entry still links to the next one. */
  *#walk(): Generator<Entry<K, V>> {
    for (let entry = this.#oldest; entry; entry = entry.newer) yield entry
  }

  #isOver({ until }: Entry<K, V>): boolean {
    if (this.#expiry === undefined) return false
    const left = until - this.#expiry.clock.now()
    // After the clock was set back, more than the full time may be left: such an entry also counts as expired.
    return left <= 0 || left > this.#expiry.ms
  }

  /** Moves a pointer or two, without a new place in the map: nearly every request calls it several times. */
  #touch(entry: Entry<K, V>): void {
    if (entry === this.#newest) return
    this.#unlink(entry)
    this.#append(entry)
  }

  #remove(entry: Entry<K, V>): void {
    this.#entries.delete(entry.key)
    this.#unlink(entry)
  }

  #append(entry: Entry<K, V>): void {
    entry.older = this.#newest
    entry.newer = undefined
    if (this.#newest) this.#newest.newer = entry
    else this.#oldest = entry
    this.#newest = entry
  }

  #unlink(entry: Entry<K, V>): void {
    if (entry.older) entry.older.newer = entry.newer
    else this.#oldest = entry.newer
    if (entry.newer) entry.newer.older = entry.older
    else this.#newest = entry.older
  }
}
