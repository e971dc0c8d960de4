/** Dates and times as people read them, in their own time zone. */
import { texts } from '../../texts/index.ts'

const dates = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })
const times = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
})
const moments = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
const days = new Intl.DateTimeFormat('en-GB', { weekday: 'long', day: 'numeric', month: 'long' })
const DAY_MS = 86_400_000

export function dateOf(text: string): string {
  return dates.format(new Date(text))
}

export function timeOf(text: string): string {
  return times.format(new Date(text))
}

const clock = new Intl.DateTimeFormat(undefined, {
  ...{ hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' },
})
const shortDay = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short' })

/** Short enough for a column: the time of day, or the day if it was not today. */
export function clockOf(text: string): string {
  const moment = new Date(text)
  const isToday = moment.toDateString() === new Date().toDateString()
  return isToday ? clock.format(moment) : shortDay.format(moment)
}

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' })

/** With seconds and the time zone. */
export function exactMomentOf(text: string): string {
  return exact.format(new Date(text))
}

export function momentOf(text: string): string {
  return moments.format(new Date(text))
}

/** Such as `Today, Wednesday 25 November`. */
export function dayText(text: string): string {
  const moment = new Date(text)
  const day = days.format(moment)
  const isOn = (other: number) => new Date(other).toDateString() === moment.toDateString()
  if (isOn(Date.now())) return texts.parts.todayOn(day)
  if (isOn(Date.now() - DAY_MS)) return texts.parts.yesterdayOn(day)
  return moment.getFullYear() === new Date().getFullYear() ? day : `${day} ${moment.getFullYear()}`
}
