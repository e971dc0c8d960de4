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
  #met = 0
  #told = performance.now()
  readonly #began = performance.now()
  readonly #total: number
  readonly #tell: (progress: Progress) => void

  constructor(total: number, tell: (progress: Progress) => void) {
    this.#total = total
    this.#tell = tell
  }

  /** `met` also counts skipped rows. */
  add(table: string, resealed: number, met: number): void {
    this.resealed += resealed
    this.#met += met
    const now = performance.now()
    // Before the first row there is no rate.
    if (this.#met === 0 || now - this.#told < EVERY_MS) return
    this.#told = now
    const left = Math.max(this.#total - this.#met, 0)
    const rate = this.#met / ((now - this.#began) / 1000)
    this.#tell({
      event: 'progress',
      table,
      resealed: this.resealed,
      left,
      rows_per_second: Math.round(rate),
      seconds_left: Math.ceil(left / rate),
    })
  }
}
