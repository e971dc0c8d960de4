/** Figures of the whole installation by day: how much it is used, never what for. */
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { type DailyRow, listMetrics } from '../../../../features/metrics/contract.ts'
import { api } from '../../api.ts'
import { EmptyState } from '../../parts/page/empty_state.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { Loading } from '../../parts/page/loading.tsx'
import { type DaySeries, StackedBars } from '../../parts/show/stacked_bars.tsx'
import { texts } from '../../texts/index.ts'

const words = texts.instance
const DAYS = 90

export function Metrics() {
  const { data, error } = useQuery({
    queryKey: ['metrics'],
    queryFn: () => api.call(listMetrics, { query: { limit: DAYS } }),
  })
  if (error) return <FailureNote error={error} />
  if (!data) return <Loading />
  return (
    <section className="stack" aria-labelledby="metrics">
      <h2 id="metrics">{words.metrics}</h2>
      {data.length > 0 ? (
        <Charts days={data} />
      ) : (
        <EmptyState title={words.noMetrics}>
          <p>{words.noMetricsHelp}</p>
        </EmptyState>
      )}
    </section>
  )
}

/** Newest first. */
function Charts({ days }: { days: readonly DailyRow[] }) {
  const drawn = useMemo(() => {
    const rows = days.toReversed()
    const line = (label: string, values: number[], tone: DaySeries['tone']): DaySeries => ({
      label,
      values,
      tone,
    })
    return {
      days: rows.map(({ date }) => date),
      calls: [
        line(
          words.allowedCalls,
          rows.map(({ resolver_calls, resolver_blocked }) => resolver_calls - resolver_blocked),
          'accent',
        ),
        line(
          words.blockedCalls,
          rows.map(({ resolver_blocked }) => resolver_blocked),
          'red',
        ),
      ],
      people: [
        line(
          words.people,
          rows.map(({ dau }) => dau),
          'accent',
        ),
      ],
    }
  }, [days])
  const sum = (of: (day: DailyRow) => number) => days.reduce((total, day) => total + of(day), 0)
  const calls = sum(({ resolver_calls }) => resolver_calls)
  const blocked = sum(({ resolver_blocked }) => resolver_blocked)
  const [newest] = days
  const { total_users = 0, total_secrets = 0 } = newest ?? {}
  return (
    <>
      <StackedBars
        label={words.calls}
        text={words.callsText(calls, blocked)}
        days={drawn.days}
        series={drawn.calls}
      />
      <StackedBars
        label={words.people}
        text={words.peopleText(total_users, total_secrets)}
        days={drawn.days}
        series={drawn.people}
      />
    </>
  )
}
