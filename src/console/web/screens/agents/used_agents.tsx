/** Agents that made calls, for members and read-only members. Only owners and admins see tokens. */
import { Bot } from 'lucide-react'
import { DataGrid, type GridColumn } from '../../parts/grid/grid.tsx'
import { EmptyState } from '../../parts/page/empty_state.tsx'
import { SkeletonRows } from '../../parts/page/skeleton.tsx'
import { Ago } from '../../parts/show/ago.tsx'
import { Sparkline } from '../../parts/show/sparkline.tsx'
import { texts } from '../../texts/index.ts'
import { useUsage } from '../../usage.ts'
import { sumOf } from './use.ts'

const words = texts.agents
const { columns: heads } = words

type UsedAgent = NonNullable<ReturnType<typeof useUsage>>['agents'][number]

const idOf = ({ registration_id, agent_id }: UsedAgent) => registration_id ?? agent_id
const spark = ({ calls, blocked }: UsedAgent) => (
  <Sparkline
    values={calls.slice(-7)}
    label={words.calls(sumOf(calls.slice(-7)), sumOf(blocked.slice(-7)))}
  />
)

const columns: GridColumn<UsedAgent>[] = [
  {
    ...{ id: 'name', header: heads.name, width: 'minmax(0, 1fr)', isRowHeader: true },
    sortBy: ({ agent_id }) => agent_id,
    cell: ({ agent_id }) => <span className="font-medium">{agent_id}</span>,
  },
  {
    ...{ id: 'used', header: heads.lastUsed, width: '150px' },
    sortBy: ({ last_used_at }) => last_used_at,
    cell: ({ last_used_at }) => <Ago at={last_used_at} />,
  },
  { id: 'days', header: heads.days, width: '110px', cell: spark },
]

export function UsedAgents({ workspaceId }: { workspaceId: string }) {
  const usage = useUsage(workspaceId)
  if (!usage) return <SkeletonRows count={8} hasHeader />
  return (
    <DataGrid
      label={words.list}
      columns={columns}
      rows={usage.agents}
      idOf={idOf}
      empty={<EmptyState icon={Bot} title={texts.live.none} />}
      phone={(row) => (
        <div className="flex items-center gap-2">
          <span className="min-w-0 flex-1 truncate font-medium">{row.agent_id}</span>
          {spark(row)}
        </div>
      )}
    />
  )
}
