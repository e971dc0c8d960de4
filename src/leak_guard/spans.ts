/**
 * Finds, as stretches of the answer in order. Overlapping finds become one stretch, which covers them all. Its label is
 * that of the longest whole value among them, or empty without one.
 */
import type { Label } from './matching/patterns.ts'

export type Span = {
  start: number
  end: number
  label: Label
  /** Length of the find that gave the label. */
  named: number
  /** Bits of the forms that it has in the answer. */
  form: number
}

export class Spans {
  readonly #list: Span[] = []
  #head = 0

  /** The first of them. */
  get first(): Span | undefined {
    return this.#list[this.#head]
  }

  add(start: number, end: number, label: Label, form: number): void {
    const named = label.names.length === 0 ? 0 : end - start
    const list = this.#list
    let from = this.#placeOf(start)
    const before = from > this.#head ? list[from - 1] : undefined
    if (before !== undefined && before.end > start) from--
    // Several readings of a text find the same: by far most finds of a hostile answer.
    const known = list[from]
    const isWithin = known !== undefined && known.start <= start && known.end >= end
    if (isWithin && addsNothing(known, label, named, form)) return
    const span: Span = { start, end, label, named, form }
    let to = from
    for (let next = list[to]; next && next.start < span.end; next = list[++to])
      mergeInto(span, next)
    if (to === from + 1) list[from] = span
    else list.splice(from, to - from, span)
  }

  /** Whether all of a stretch lies within one of them. */
  covers(start: number, end: number): boolean {
    const at = this.#placeOf(start + 1) - 1
    const span = at < this.#head ? undefined : this.#list[at]
    return span !== undefined && span.end >= end
  }

  /** The index of the first span that does not begin before `start`. */
  #placeOf(start: number): number {
    let low = this.#head
    let high = this.#list.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#list[middle]?.start ?? 0) < start) low = middle + 1
      else high = middle
    }
    return low
  }

  /** Removes the first, at amortised constant cost. */
  shift(): void {
    this.#head++
    if (this.#head < 1024 && this.#head < this.#list.length) return
    this.#list.splice(0, this.#head)
    this.#head = 0
  }
}

/** Whether a find within a span leaves it as it is. */
function addsNothing(span: Span, label: Label, named: number, form: number): boolean {
  const isKept = span.named > named || (span.named === named && span.label === label)
  return isKept && (form & ~span.form) === 0
}

/** Adds another find to a span. Of equally long values, the first label in byte order stays. */
export function mergeInto(span: Span, other: Span): void {
  const isLonger = other.named > span.named
  const isEqual = other.named === span.named
  const isFirst = isEqual && nameOf(other) < nameOf(span)
  const isAsSent = isEqual && other.label.sent !== undefined
  if (isLonger || isFirst || isAsSent) {
    span.label = other.label
    span.named = other.named
  }
  span.start = Math.min(span.start, other.start)
  span.end = Math.max(span.end, other.end)
  span.form |= other.form
}

function nameOf({ label }: Span): string {
  return label.names[0] ?? ''
}
