/**
 * Compares this machine's clock with the `Date` header of a server's answers. Both may be wrong, so a difference is
 * reported with both times, and not corrected: a server's `Date` never changes an expiry.
 */
const MINUTE_MS = 60_000
/** From here on a person is warned. */
export const WARNED_MS = 5 * MINUTE_MS
/** From this difference on, no tokens with a relative expiry are issued. */
export const REFUSED_MS = 60 * MINUTE_MS

/** Positive `aheadMs`: the server's clock is ahead. Times in milliseconds since 1970. */
export type ClockDifference = { host: string; here: number; there: number; aheadMs: number }

export class ServerClocks {
  readonly now: () => number
  readonly #onDifference: (difference: ClockDifference) => void
  #difference: ClockDifference | null = null

  /** `onDifference` is called once, for the first difference of more than 5 minutes. */
  constructor(now: () => number, onDifference: (difference: ClockDifference) => void) {
    this.now = now
    this.#onDifference = onDifference
  }

  /** The largest difference of more than 5 minutes. */
  get difference(): ClockDifference | null {
    return this.#difference
  }

  /** `sentAt` is when the request left, by this machine's clock. */
  note(url: string, date: string | null, sentAt: number): void {
    const there = Date.parse(date ?? '')
    const receivedAt = this.now()
    if (Number.isNaN(there)) return
    // The answer's time is somewhere between; a slow answer is no difference.
    const aheadMs = there < sentAt ? there - sentAt : Math.max(0, there - receivedAt)
    if (Math.abs(aheadMs) <= WARNED_MS) return
    const isFirst = this.#difference === null
    const isLarger = Math.abs(aheadMs) > Math.abs(this.#difference?.aheadMs ?? 0)
    const host = URL.parse(url)?.host ?? 'the server'
    if (isLarger) this.#difference = { host, here: receivedAt, there, aheadMs }
    if (isFirst && this.#difference) this.#onDifference(this.#difference)
  }
}

/** An expiry that counts from now would end at another moment than was asked for. */
export class ClocksDiffer extends Error {
  constructor(difference: ClockDifference) {
    super(
      `${clockSentence(difference)} Nothing was created, because it would expire at the wrong time.`,
    )
    this.name = 'ClocksDiffer'
  }
}

/** @throws ClocksDiffer for clocks that differ by more than an hour */
export function demandSameTime(difference: ClockDifference | null): void {
  if (difference && Math.abs(difference.aheadMs) > REFUSED_MS) throw new ClocksDiffer(difference)
}

/** `The server's clock at host is 400 days ahead: …`, with both times. */
export function clockSentence({ host, here, there, aheadMs }: ClockDifference): string {
  const amount = lengthInWords(Math.abs(aheadMs))
  const side = aheadMs > 0 ? 'ahead of' : 'behind'
  const times = `${new Date(there).toISOString()} there, ${new Date(here).toISOString()} here`
  return `The clock of ${host} is ${amount} ${side} this machine's clock: ${times}.`
}

export const CLOCK_HINT = 'run date -u on both machines, and correct the wrong clock'

const UNITS = [
  ['days', 86_400_000, 2],
  ['hours', 3_600_000, 2],
  ['minutes', MINUTE_MS, 0],
] as const

function lengthInWords(ms: number): string {
  const [unit, size] = UNITS.find(([, each, least]) => ms >= least * each) ?? UNITS[2]
  return `${Math.round(ms / size)} ${unit}`
}
