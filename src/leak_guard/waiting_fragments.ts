/**
 * Fragments wait until all finds are known that begin before the end of their window. A window inside finds of values
 * and their parts adds nothing to these, because they are exact. Otherwise, the fragment is a separate find. The result
 * depends only on the answer, not on the order of the finds.
 */
import type { Fragment } from './matching/fragments.ts'
import type { Label } from './matching/patterns.ts'
import { Spans } from './spans.ts'

const LABEL: Label = { names: [] }

export class WaitingFragments {
  /** The finds of values and their parts, as long as a window may lie in them. */
  readonly #exact = new Spans()
  /** In the order of their windows. */
  #waiting: Fragment[] = []

  get isEmpty(): boolean {
    return this.#waiting.length === 0
  }

  addExact(start: number, end: number): void {
    this.#exact.add(start, end, LABEL, 0)
  }

  add(fragment: Fragment): void {
    this.#waiting.push(fragment)
  }

  /**
   * Adds the decided fragments to `spans`, once everything is known that begins before `until`. Returns the position up
   * to which the answer is then decided.
   */
  decide(until: number, spans: Spans): number {
    let done = 0
    for (const { start, end, windowStart, windowEnd } of this.#waiting) {
      if (windowEnd > until) break
      done++
      if (!this.#exact.covers(windowStart, windowEnd)) spans.add(start, end, LABEL, 0)
    }
    if (done > 0) this.#waiting = this.#waiting.slice(done)
    const decided = Math.min(until, this.#waiting[0]?.start ?? until)
    for (let next = this.#exact.first; next && next.end <= decided; next = this.#exact.first) {
      this.#exact.shift()
    }
    return decided
  }
}
