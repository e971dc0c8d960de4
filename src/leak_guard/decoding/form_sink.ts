/** Adds to each find its form in the answer. */
import type { FindSink } from '../matching/finder.ts'
import type { Label } from '../matching/patterns.ts'

/** The stretch consists of elements of an array, and perhaps its brackets. */
export const ARRAY = 1
/** The padding of base64 may follow. */
export const PADDED = 2

export class FormSink implements FindSink {
  readonly #sink: FindSink
  readonly #form: number

  constructor(sink: FindSink, form: number) {
    this.#sink = sink
    this.#form = form
  }

  get work(): number {
    return this.#sink.work
  }

  set work(work: number) {
    this.#sink.work = work
  }

  add(start: number, end: number, label: Label): void {
    this.#sink.add(start, end, label, this.#form)
  }
}
