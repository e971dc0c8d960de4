/** Reports progress, at most once a second: rows done, rows left, and the estimated time left. */
import type { KeyCounts } from './counts.ts'
import type { Unreadable } from './reseal.ts'

export type Progress =
  | { event: 'started'; key: string; rows: KeyCounts }
  | {
      event: 'progress'
      table: string
      resealed: number
      left: number
      rows_per_second: number
      seconds_left: number
    }
  | ({ event: 'unreadable' } & Unreadable)

const EVERY_MS = 1_000

export class Pace {
  resealed = 0
  #done = 0
  #reportedAt = performance.now()
  readonly #began = performance.now()
  readonly #total: number
  readonly #report: (progress: Progress) => void

  constructor(total: number, onProgress: (progress: Progress) => void) {
    this.#total = total
    this.#report = onProgress
  }

  /** `seen` also counts skipped rows. */
  add(table: string, resealed: number, seen: number): void {
    this.resealed += resealed
    this.#done += seen
    const now = performance.now()
    // Before the first row there is no rate.
    if (this.#done === 0 || now - this.#reportedAt < EVERY_MS) return
    this.#reportedAt = now
    const left = Math.max(this.#total - this.#done, 0)
    const rate = this.#done / ((now - this.#began) / 1000)
    this.#report({
      event: 'progress',
      table,
      resealed: this.resealed,
      left,
      rows_per_second: Math.round(rate),
      seconds_left: Math.ceil(left / rate),
    })
  }
}
