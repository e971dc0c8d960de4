/**
 * Tokens that an API issued for a secret's signature (protocol 6.5). A call that uses one may store it at an API, and a
 * later call may read it back, so the guard of every call that may use the secret covers them too. Only the ticket,
 * which only the secret's value decrypts, and a fingerprint of the value are stored.
 */
import { createHmac, randomBytes } from 'node:crypto'
import { Fault } from '../core/fault.ts'
import type { MadeBytes } from '../leak_guard/index.ts'
import { openTicket } from './signing/tickets.ts'

/** A ticket that a call uses, with the secret's value and the token inside. */
export type ObtainedToken = { name: string; value: Uint8Array; ticket: string; token: Uint8Array }

type Kept = { name: string; ticket: string; until: number }

/** Google's tokens for an assertion end an hour after they were issued, so also an hour after a use. */
const LIFETIME_MS = 3_600_000
const MAX_TOKENS = 32
/** Characters of all tickets together. */
const MAX_CHARACTERS = 131_072

/** One workspace's or one local proxy's tokens. */
export class ObtainedTokens {
  readonly #now: () => number
  readonly #idKey = randomBytes(32)
  /** Tokens by fingerprint of the secret's value, then by fingerprint of the token. */
  readonly #kept = new Map<string, Map<string, Kept>>()
  #version = 0

  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  /** Grows with each new token: a guard that was prepared before does not cover it. */
  get version(): number {
    return this.#version
  }

  /**
   * Adds tokens to the guards of later calls.
   *
   * @throws Fault `rate_limited` if no more tokens can be remembered
   */
  add(tokens: readonly ObtainedToken[]): void {
    for (const token of tokens) this.#addOne(token)
  }

  /** Returns the tokens to guard together with a secret's value. */
  of(name: string, value: Uint8Array): MadeBytes[] {
    if (this.#kept.size === 0) return []
    const kept = [...(this.#kept.get(this.#idOf(value))?.values() ?? [])]
    return kept.map((each) => ({
      name,
      bytes: openTicket(each.name, value, each.ticket),
      hasFragments: true,
    }))
  }

  #addOne({ name, value, ticket, token }: ObtainedToken): void {
    const [id, tokenId] = [this.#idOf(value), this.#idOf(token)]
    const until = this.#now() + LIFETIME_MS
    const known = this.#kept.get(id)?.get(tokenId)
    if (known) {
      known.until = until
      return
    }
    this.#dropEnded()
    const live = this.#kept.get(id) ?? new Map<string, Kept>()
    if (live.size >= MAX_TOKENS || this.#characters() + ticket.length > MAX_CHARACTERS) {
      throw this.#buildFullFault(name, live)
    }
    this.#kept.set(id, live.set(tokenId, { name, ticket, until }))
    this.#version += 1
  }

  #dropEnded(): void {
    const now = this.#now()
    for (const [id, kept] of this.#kept) {
      for (const [tokenId, { until }] of kept) if (until <= now) kept.delete(tokenId)
      if (kept.size === 0) this.#kept.delete(id)
    }
  }

  #characters(): number {
    return this.#listAll().reduce((sum, { ticket }) => sum + ticket.length, 0)
  }

  #buildFullFault(name: string, live: ReadonlyMap<string, Kept>): Fault {
    const counted = live.size >= MAX_TOKENS ? [...live.values()] : this.#listAll()
    const first = Math.min(...counted.map(({ until }) => until))
    return new Fault('rate_limited', {
      message: `Cloakroom guards at most ${MAX_TOKENS} tokens obtained with one secret within an hour, and ${name} has no room for another. Reuse a token, or retry later.`,
      headers: { 'retry-after': String(Math.max(1, Math.ceil((first - this.#now()) / 1000))) },
    })
  }

  #listAll(): Kept[] {
    return [...this.#kept.values()].flatMap((kept) => [...kept.values()])
  }

  /** Returns a stable id of bytes, which is useless without this object. */
  #idOf(bytes: Uint8Array): string {
    return createHmac('sha256', this.#idKey).update(bytes).digest('base64')
  }
}
