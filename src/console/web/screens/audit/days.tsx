/** How many requests there were, by day. */
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { summariseAudit } from '../../../../features/audit/contract.ts'
import { api } from '../../api.ts'
import { Chart, type ChartLine } from '../../parts/chart.tsx'
import { texts } from '../../texts/index.ts'

const words = texts.audit

type Props = { workspaceId: string; since?: string | undefined; until?: string | undefined }

export function Days({ workspaceId, since, until }: Props) {
  const { data } = useQuery({
    queryKey: ['audit.summary', workspaceId, since, until],
    queryFn: () => {
      const range = { ...(since ? { since } : {}), ...(until ? { until } : {}) }
      return api.call(summariseAudit, { query: { workspace_id: workspaceId, ...range } })
    },
  })
  const drawn = useMemo(() => {
    const counts = new Map((data?.by_day ?? []).map(({ date, count }) => [date, count]))
    const days = daysBetween([...counts.keys()].sort())
    const values = days.map((day) => counts.get(day) ?? 0)
    const lines: ChartLine[] = [{ label: words.chart, values, tone: 'accent' }]
    return { days, lines }
  }, [data])
  // The records fail with the same words.
  if (!data) return null
  const { requests, blocked, errors } = data.totals
  return <Chart label={words.chart} text={words.chartText(requests, blocked, errors)} {...drawn} />
}

/** Every day from the first to the last: the summary leaves out days without a request. */
function daysBetween(sorted: readonly string[]): string[] {
  const [first = '', last = first] = [sorted[0], sorted.at(-1)]
  const days: string[] = []
  for (let at = Date.parse(first); at <= Date.parse(last); at += DAY_MS) {
    days.push(new Date(at).toISOString().slice(0, 10))
  }
  return days
}

const DAY_MS = 86_400_000
