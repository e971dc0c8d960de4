/** The installation's calls and active people, by day. */
import { useQuery } from '@tanstack/react-query'
import { ChartColumn } from 'lucide-react'
import { useMemo } from 'react'
import { type DailyRow, listMetrics } from '../../../../features/metrics/contract.ts'
import { api } from '../../api.ts'
import { Card } from '../../parts/page/card.tsx'
import { EmptyState } from '../../parts/page/empty_state.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { SkeletonRows } from '../../parts/page/skeleton.tsx'
import { daysBetween } from '../../parts/show/day_scale.ts'
import { StackedBars } from '../../parts/show/stacked_bars.tsx'
import { texts } from '../../texts/index.ts'

const words = texts.instance
const DAYS = 90

export function Metrics() {
  const { data, error } = useQuery({
    queryKey: ['metrics'],
    queryFn: () => api.call(listMetrics, { query: { limit: DAYS } }),
  })
  const charts = useMemo(() => chartsOf(data ?? []), [data])
  if (data && data.length > 0) {
    return charts.map(({ title, ...bars }) => (
      <Card key={title} title={title}>
        <StackedBars label={title} {...bars} />
      </Card>
    ))
  }
  return (
    <Card title={words.calls}>
      {error ? <FailureNote error={error} /> : null}
      {data || error ? null : <SkeletonRows count={4} height={34} />}
      {data ? <EmptyState icon={ChartColumn} title={words.noMetrics} /> : null}
    </Card>
  )
}

/** @param rows newest first; days without figures are drawn as 0 */
function chartsOf(rows: readonly DailyRow[]) {
  const byDay = new Map(rows.map((row) => [row.date, row]))
  const days = daysBetween([...byDay.keys()].sort()).slice(-DAYS)
  const valuesOf = (read: (row: DailyRow) => number) =>
    days.map((day) => {
      const row = byDay.get(day)
      return row ? read(row) : 0
    })
  const calls = valuesOf(({ resolver_calls }) => resolver_calls)
  const { total_users = 0, total_secrets = 0 } = rows[0] ?? {}
  return [
    {
      title: words.calls,
      text: words.callsText(calls.reduce((sum, count) => sum + count, 0)),
      days,
      series: [
        {
          label: words.allowedCalls,
          tone: 'accent' as const,
          values: valuesOf(
            (row) => row.resolver_calls - row.resolver_blocked - row.resolver_errors,
          ),
        },
        {
          label: words.refusedCalls,
          tone: 'red' as const,
          values: valuesOf(({ resolver_blocked }) => resolver_blocked),
        },
        {
          label: words.failedCalls,
          tone: 'amber' as const,
          values: valuesOf(({ resolver_errors }) => resolver_errors),
        },
      ],
    },
    {
      title: words.people,
      text: words.peopleText(total_users, total_secrets),
      days,
      series: [
        { label: words.active, tone: 'accent' as const, values: valuesOf(({ dau }) => dau) },
      ],
    },
  ]
}
