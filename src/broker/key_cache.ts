/**
 * Opened environment keys, for KEY_CACHE_SECONDS at most and bounded in number. An entry belongs to one
 * policy version, so whatever takes a grant away also makes the cached key unreachable. Keys are wiped
 * when they leave.
 */
import type { Clock } from '../kernel/clock.ts'
import { Secret } from '../kernel/secret.ts'

const MAX_KEYS = 4096
const SWEEP_MS = 1000

export class KeyCache {
  readonly #ttlMs: number
  readonly #clock: Clock
  readonly #keys = new Map<string, { key: Secret; until: number }>()
  readonly #timer: Timer

  constructor(seconds: number, clock: Clock) {
    this.#ttlMs = seconds * 1000
    this.#clock = clock
    this.#timer = setInterval(() => this.sweep(), SWEEP_MS)
    this.#timer.unref()
  }

  /** The key, to be used at once: it is the last to be wiped when room is needed. */
  get(name: string): Secret | null {
    const entry = this.#keys.get(name)
    if (!entry || entry.until <= this.#clock.now()) return null
    this.#keys.delete(name)
    this.#keys.set(name, entry)
    return entry.key
  }

  /** Keeps a copy: what the caller holds is not wiped with it. What is there stays, it may be in use. */
  put(name: string, key: Secret): void {
    if (this.#ttlMs === 0 || this.get(name)) return
    this.#drop(name)
    this.#keys.set(name, {
      key: new Secret(key.reveal().slice()),
      until: this.#clock.now() + this.#ttlMs,
    })
    for (const oldest of this.#keys.keys()) {
      if (this.#keys.size <= MAX_KEYS) break
      this.#drop(oldest)
    }
  }

  /** Wipes what has expired. */
  sweep(): void {
    const now = this.#clock.now()
    for (const [name, { until }] of this.#keys) if (until <= now) this.#drop(name)
  }

  close(): void {
    clearInterval(this.#timer)
    for (const name of this.#keys.keys()) this.#drop(name)
  }

  get size(): number {
    return this.#keys.size
  }

  #drop(name: string): void {
    this.#keys.get(name)?.key.reveal().fill(0)
    this.#keys.delete(name)
  }
}
