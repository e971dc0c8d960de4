/** The statements that one pool prepares: those that were sent before. */

/** The most statements, and the most characters of one, that are prepared without an option. */
const MAX_REPEATED = 300
const MAX_LENGTH = 2_000
/**
 * Milliseconds until a full list starts again. A connection keeps every statement that it prepared, but it lives for
 * an hour at most, so it keeps at most three lists.
 */
const GENERATION_MS = 30 * 60_000
/** Matches searches of the audit: the planner must see their values, because the database's statistics decide. */
const SEARCHES = /audit_/

/**
 * An unprepared statement with parameters takes two round trips and is planned each time. A list of values has a
 * different text for each length, so the number of prepared ones is bounded.
 */
export class RepeatedStatements {
  readonly #seen = new Set<string>()
  readonly #repeated = new Set<string>()
  readonly #now: () => number
  #since: number

  constructor(now = () => performance.now()) {
    this.#now = now
    this.#since = now()
  }

  /** Whether the statement was sent before, so that it is prepared from now on. */
  see(text: string): boolean {
    if (this.#repeated.has(text)) return true
    if (text.length > MAX_LENGTH || SEARCHES.test(text)) return false
    if (!this.#seen.has(text)) {
      if (this.#seen.size >= MAX_REPEATED) this.#seen.clear()
      this.#seen.add(text)
      return false
    }
    if (this.#repeated.size >= MAX_REPEATED && !this.#renew()) return false
    this.#repeated.add(text)
    return true
  }

  #renew(): boolean {
    if (this.#now() - this.#since < GENERATION_MS) return false
    this.#since = this.#now()
    this.#repeated.clear()
    return true
  }
}
