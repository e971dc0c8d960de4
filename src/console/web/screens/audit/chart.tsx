/** Calls by day, which follow all filters. Days that are chosen become the period. */
import { useMemo } from 'react'
import { type DaySeries, StackedBars } from '../../parts/show/stacked_bars.tsx'
import { texts } from '../../texts/index.ts'
import { useFilters } from './filters.ts'
import { chartDays } from './period.ts'
import { useSummary } from './summary.ts'

const words = texts.audit

const parts = [
  { name: 'allowed', label: words.decisions.allowed, tone: 'accent' },
  { name: 'blocked', label: words.decisions.blocked, tone: 'red' },
  { name: 'errors', label: words.decisions.error, tone: 'amber' },
] as const

export function Chart({ workspaceId }: { workspaceId: string }) {
  const { filters, change } = useFilters()
  const { data } = useSummary(workspaceId, filters)
  const { period, since, until } = filters
  const drawn = useMemo(() => {
    const counted = new Map((data?.by_day ?? []).map((day) => [day.date, day]))
    const chosen = { ...(period && { period }), ...(since && { since }), ...(until && { until }) }
    const days = chartDays(chosen, [...counted.keys()])
    const series: DaySeries[] = parts.map(({ name, ...part }) => ({
      ...part,
      values: days.map((day) => counted.get(day)?.[name] ?? 0),
    }))
    return { days, series }
  }, [data, period, since, until])
  const count = filters.action ? words.events : words.calls
  return (
    <StackedBars
      label={words.chart}
      text={data ? count(data.totals.requests, data.is_whole) : words.counting}
      isLoading={!data}
      {...drawn}
      onBrush={(from, to) => change({ since: from, until: to, period: undefined })}
    />
  )
}
