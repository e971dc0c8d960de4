/** Moments as people read them, in their own place. */
const dates = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })
const times = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' })

export function dateOf(text: string): string {
  return dates.format(new Date(text))
}

export function timeOf(text: string): string {
  return times.format(new Date(text))
}

const clock = new Intl.DateTimeFormat(undefined, {
  ...{ hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' },
})
const day = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short' })

/** Short enough for a column: the time of day, or the day if it was not today. */
export function clockOf(text: string): string {
  const moment = new Date(text)
  const isToday = moment.toDateString() === new Date().toDateString()
  return isToday ? clock.format(moment) : day.format(moment)
}

const moment = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

export function momentOf(text: string): string {
  return moment.format(new Date(text))
}
