/** Positions of days and counts in a chart. */

/** Fewer days would be drawn as a wall. */
const LEAST_SLOTS = 7
const MOST_LABELS = 14
const DAY_MS = 86_400_000

const withMonth = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric', timeZone: 'UTC' })
const alone = new Intl.DateTimeFormat('en', { day: 'numeric', timeZone: 'UTC' })

export function slotsFor(days: number): number {
  return Math.max(LEAST_SLOTS, days)
}

/** Two or three round numbers from 0 up, of which the last is at least `most` or one step below it. */
export function ticksFor(most: number): number[] {
  if (most === 0) return [0]
  const rough = most / 2
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = Math.max(1, [5, 2, 1].map((part) => part * power).find((size) => size <= rough) ?? 1)
  const ticks = [0]
  for (let tick = step; tick <= most && ticks.length < 4; tick += step) ticks.push(tick)
  return ticks
}

/** At most so many days have a label, counted back from the last. The first of each month names the month. */
export function labelsFor(
  days: readonly string[],
  most: number = MOST_LABELS,
): { at: number; text: string }[] {
  const every = Math.ceil(days.length / most)
  let month = ''
  return days.flatMap((day, at) => {
    if ((days.length - 1 - at) % every !== 0) return []
    const isNewMonth = day.slice(0, 7) !== month
    month = day.slice(0, 7)
    return [{ at, text: (isNewMonth ? withMonth : alone).format(new Date(day)) }]
  })
}

export function dayName(day: string): string {
  return withMonth.format(new Date(day))
}

/** Every day from the first to the last. Summaries leave out days without a call. */
export function daysBetween(sorted: readonly string[]): string[] {
  const [first = '', last = first] = [sorted[0], sorted.at(-1)]
  const days: string[] = []
  for (let at = Date.parse(first); at <= Date.parse(last); at += DAY_MS) {
    days.push(new Date(at).toISOString().slice(0, 10))
  }
  return days
}
