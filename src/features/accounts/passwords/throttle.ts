/**
 * Slows down guessing (protocol 11): after five wrong passwords in a row for one account from one
 * network, that pair waits, and the wait doubles. Attempts of a pair are judged one after another:
 * side by side, a hundred of them would pass before the first was counted. The account is the
 * submitted address, whether it exists or not, and other networks are never affected.
 */
import type { Waits } from '../../../database/limits/backoff.ts'

/** The guessed credential, its account, and the network. */
export type PasswordAttempt = {
  what: 'password' | 'recovery' | 'passkey'
  /** The submitted address; of a passkey the submitted id. */
  account: string
  network: string
}

export class PasswordThrottle {
  readonly #waits: Waits
  /** The last attempt in line of each pair. */
  readonly #lines = new Map<string, Promise<void>>()

  constructor(waits: Waits) {
    this.#waits = waits
  }

  /**
   * The result of `check`, or `null` for a wrong password.
   *
   * @throws Fault `rate_limited` with Retry-After in seconds, before anything is checked
   */
  judge<T>(
    { what, account, network }: PasswordAttempt,
    check: () => Promise<T | null>,
  ): Promise<T | null> {
    const key = `${what} ${account} ${network}`
    const verdict = (this.#lines.get(key) ?? Promise.resolve()).then(() => this.#count(key, check))
    const done: Promise<void> = verdict.then(
      () => this.#leave(key, done),
      () => this.#leave(key, done),
    )
    this.#lines.set(key, done)
    return verdict
  }

  async #count<T>(key: string, check: () => Promise<T | null>): Promise<T | null> {
    await this.#waits.check(key)
    const found = await this.#decideThrottled(key, check)
    if (found === null) await this.#waits.recordFailure(key)
    else await this.#waits.recordSuccess(key)
    return found
  }

  async #decideThrottled<T>(key: string, check: () => Promise<T | null>): Promise<T | null> {
    try {
      return await check()
    } catch (error) {
      await this.#waits.releaseAttempt(key)
      throw error
    }
  }

  #leave(key: string, done: Promise<void>): void {
    if (this.#lines.get(key) === done) this.#lines.delete(key)
  }
}
