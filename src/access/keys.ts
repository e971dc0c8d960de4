/**
 * Opened environment keys, for KEY_CACHE_SECONDS at most and bounded in number. An entry belongs to one policy version,
 * so whatever removes a grant also makes the cached key unreachable. Keys are erased on eviction.
 */
import type { Clock } from '../core/clock.ts'
import { LruMap } from '../core/lru.ts'
import { Secret } from '../core/secret.ts'

const MAX_KEYS = 4096
const SWEEP_MS = 1000

/** Cache statistics since the start. */
export type CacheStats = { hits: number; misses: number; entries: number }

export class KeyCache {
  readonly #ttlMs: number
  readonly #keys: LruMap<string, Secret>
  readonly #timer: Timer
  readonly #counts = { hits: 0, misses: 0 }
  /** Increases when keys are dropped, so that keys decrypted earlier are not cached afterwards. */
  #generation = 0

  constructor(seconds: number, clock: Clock) {
    this.#ttlMs = seconds * 1000
    const expiry = { ms: this.#ttlMs, clock }
    this.#keys = new LruMap({ max: MAX_KEYS, expiry, onEvict: wipe })
    this.#timer = setInterval(() => this.sweep(), SWEEP_MS)
    this.#timer.unref()
  }

  /** Returns the key for immediate use, and marks it as most recently used. */
  get(name: string): Secret | null {
    const key = this.#keys.get(name) ?? null
    this.#counts[key ? 'hits' : 'misses'] += 1
    return key
  }

  /** Returns the key without counting the access or extending its time. */
  peek(name: string): Secret | null {
    return this.#keys.peek(name) ?? null
  }

  get generation(): number {
    return this.#generation
  }

  /**
   * Keeps a copy: the caller's key is not erased with it. An existing key stays, because it may be in use. A key that
   * was requested in an earlier generation is not kept: its token may be revoked by now.
   */
  put(name: string, key: Secret, generation = this.#generation): void {
    if (this.#ttlMs === 0 || generation !== this.#generation || this.#keys.get(name)) return
    this.#keys.set(name, new Secret(key.reveal().slice()))
  }

  /**
   * Forgets the keys with this name prefix, or all keys. They are erased in the next turn of the event loop, after
   * current uses.
   */
  forget(prefix = ''): void {
    this.#generation += 1
    for (const [name, key] of this.#keys) {
      if (!name.startsWith(prefix)) continue
      this.#keys.delete(name)
      setImmediate(wipe, key)
    }
  }

  /** Erases expired keys. */
  sweep(): void {
    this.#keys.sweep()
  }

  close(): void {
    clearInterval(this.#timer)
    for (const [, key] of this.#keys) wipe(key)
    this.#keys.clear()
  }

  get size(): number {
    return this.#keys.size
  }

  get stats(): CacheStats {
    return { ...this.#counts, entries: this.size }
  }
}

function wipe(key: Secret): void {
  key.reveal().fill(0)
}
