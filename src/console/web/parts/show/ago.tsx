/** The time since an event, or until it. The full date and time is in the title. */
import { texts } from '../../texts/index.ts'

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const

/** The part of a unit that counts as a whole one of the time that is left. */
const ROUNDED_UP = 0.05

const whole = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always' })

export function Ago({ at, short = false }: { at: string | number | Date; short?: boolean }) {
  const moment = new Date(at)
  return (
    <time
      dateTime={moment.toISOString()}
      title={whole.format(moment)}
      className="whitespace-nowrap tabular-nums"
    >
      {agoText(moment.getTime() - Date.now(), short)}
    </time>
  )
}

/** @param difference milliseconds, negative for the past */
function agoText(difference: number, isShort: boolean): string {
  const words = texts.parts.ago
  const distance = Math.abs(difference)
  const [unit, length] = UNITS.find(([, size]) => distance >= size) ?? []
  if (!unit) return isShort ? words.short.now : words.now
  // A token for 90 days still has 90 days a minute later.
  const count = Math.trunc(distance / length + (difference > 0 ? ROUNDED_UP : 0))
  return isShort ? words.short[unit](count) : relative.format(Math.sign(difference) * count, unit)
}
