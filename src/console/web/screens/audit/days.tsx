/** How many requests there were, by day. */
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { summariseAudit } from '../../../../features/audit/contract.ts'
import { api } from '../../api.ts'
import { Chart, type Line } from '../../parts/chart.tsx'
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
    const days = (data?.by_day ?? []).toSorted((a, b) => a.date.localeCompare(b.date))
    const values = days.map(({ count }) => count)
    const lines: Line[] = [{ label: words.chart, values, tone: 'accent' }]
    return { days: days.map(({ date }) => date), lines }
  }, [data])
  // The records fail with the same words.
  if (!data) return null
  const { requests, blocked, errors } = data.totals
  return <Chart label={words.chart} text={words.chartText(requests, blocked, errors)} {...drawn} />
}
