/** Moments as people say them: `3h ago`, `in 89d`. */

const UNITS = [
  ['y', 31_536_000],
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
  ['s', 1],
] as const

/** How far a moment is away, in its largest unit; what is no moment stays as it is. */
export function relativeTime(value: unknown, now: Date): string {
  const seconds = Math.round((now.getTime() - new Date(String(value)).getTime()) / 1_000)
  if (Number.isNaN(seconds)) return String(value)
  const away = Math.abs(seconds)
  const [unit, size] = UNITS.find(([, least]) => away >= least) ?? ['s', 1]
  const amount = `${Math.floor(away / size)}${unit}`
  return seconds >= 0 ? `${amount} ago` : `in ${amount}`
}
