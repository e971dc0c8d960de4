/**
 * The period that the audit log shows: the last days, or from one day to another. Days are in UTC, as the summary
 * counts them. `Today` begins at midnight of the person's time zone.
 */
import { dayName, daysBetween } from '../../parts/show/day_scale.ts'
import { texts } from '../../texts/index.ts'
import type { AuditFilters } from './search.ts'

const words = texts.audit

export const periods = ['today', '7d', '14d', '30d', '90d'] as const
export type AuditPeriod = (typeof periods)[number]

export const USUAL_PERIOD: AuditPeriod = '14d'
const DAYS: Record<Exclude<AuditPeriod, 'today'>, number> = {
  '7d': 7,
  '14d': 14,
  '30d': 30,
  '90d': 90,
}
const DAY_MS = 86_400_000
/** Bars of the chart. */
const MOST_DAYS = 90

type Chosen = Pick<AuditFilters, 'period' | 'since' | 'until'>

/** Null for days that someone chose. */
export function periodOf({ period, since, until }: Chosen): AuditPeriod | null {
  if (since !== undefined || until !== undefined) return null
  return periods.find((known) => known === period) ?? USUAL_PERIOD
}

export function periodText(chosen: Chosen): string {
  const period = periodOf(chosen)
  if (period) return words.periods[period]
  const [since, until] = [dayText(chosen.since), dayText(chosen.until)]
  if (since && until) return words.between(since, until)
  return since ? words.since(since) : words.until(until)
}

const dayText = (day: string | undefined) => (isDay(day) ? dayName(day) : (day ?? ''))
const isDay = (text: string | undefined): text is string => /^\d{4}-\d\d-\d\d$/.test(text ?? '')
const dayOf = (moment: number) => new Date(moment).toISOString().slice(0, 10)

/** The range for the server, which excludes `until`. */
export function rangeOf(chosen: Chosen): { since?: string; until?: string } {
  const period = periodOf(chosen)
  if (period) return { since: startOf(period) }
  const { since, until } = chosen
  const end = isDay(until) ? dayOf(Date.parse(until) + DAY_MS) : until
  return { ...(since ? { since } : {}), ...(end ? { until: end } : {}) }
}

function startOf(period: AuditPeriod): string {
  if (period === 'today') return new Date(new Date().setHours(0, 0, 0, 0)).toISOString()
  return dayOf(Date.now() - (DAYS[period] - 1) * DAY_MS)
}

/** The days of the chart, with those that have no call. `counted` are the others, oldest first. */
export function chartDays(chosen: Chosen, counted: readonly string[]): string[] {
  const today = dayOf(Date.now())
  const { since = counted[0] ?? today } = rangeOf(chosen)
  const last = chosen.until && isDay(chosen.until) && chosen.until < today ? chosen.until : today
  return daysBetween([since.slice(0, 10), last]).slice(-MOST_DAYS)
}
