/** Days as `YYYY-MM-DD`, UTC. */
const DAY_MS = 86_400_000

export function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10)
}

/** The first moment after a day, in milliseconds since 1970. */
export function endOfDay(day: string): number {
  return Date.parse(day) + DAY_MS
}

/** So many days that end with the given one, newest first. */
export function daysUntil(last: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => dayOf(Date.parse(last) - index * DAY_MS))
}
