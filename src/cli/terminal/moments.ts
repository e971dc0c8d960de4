/** Moments as people say them, `3h ago`, `in 89d`, and lengths of time as they type them. */
import { CliError } from './cli_error.ts'

const UNITS = [
  ['y', 31_536_000],
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
  ['s', 1],
] as const
/** Typed, and shown as days. */
const WEEK = ['w', 604_800] as const

/** The distance of a time, in its largest unit. Invalid times stay unchanged. */
export function formatRelativeTime(value: unknown, now: Date): string {
  const seconds = Math.round((now.getTime() - new Date(String(value)).getTime()) / 1_000)
  if (Number.isNaN(seconds)) return String(value)
  const distance = Math.abs(seconds)
  const [unit, size] = UNITS.find(([, least]) => distance >= least) ?? ['s', 1]
  const amount = `${Math.floor(distance / size)}${unit}`
  return seconds >= 0 ? `${amount} ago` : `in ${amount}`
}

type Range = { option: string; example: string; least: string; most: string }

/** Milliseconds of `30s`, `8h`. @throws CliError for an invalid duration, or one out of range */
export function durationOf(text: string, { option, example, least, most }: Range): number {
  const ms = millisecondsOf(text)
  if (ms >= millisecondsOf(least) && ms <= millisecondsOf(most)) return ms
  throw new CliError(
    'usage',
    `${option} must be a time such as ${example}, from ${least} to ${most}`,
    /^\d+$/.test(text) ? `${text} has no unit: s, m, h, d or w` : null,
  )
}

function millisecondsOf(text: string): number {
  const [, count = '', letter] = /^(\d{1,5})([smhdw])$/.exec(text) ?? []
  const [, seconds = Number.NaN] = [...UNITS, WEEK].find(([unit]) => unit === letter) ?? []
  return Number(count) * seconds * 1_000
}
