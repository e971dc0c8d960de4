/** Moments as people read them, in their own place. */
const dates = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })
const times = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' })

export function dateOf(text: string): string {
  return dates.format(new Date(text))
}

export function timeOf(text: string): string {
  return times.format(new Date(text))
}
