/** The table of agents. */
import { Bot } from 'lucide-react'
import { type ReactNode, useDeferredValue, useMemo } from 'react'
import { DataGrid } from '../../parts/grid/grid.tsx'
import { EmptyState } from '../../parts/page/empty_state.tsx'
import { texts } from '../../texts/index.ts'
import { useUsage } from '../../usage.ts'
import { AgentPhoneRow, columnsFor } from './columns.tsx'
import { useAgentSearch } from './place.ts'
import { type AgentRow, type Chip, isInChip } from './rows.ts'
import { agentUse } from './use.ts'

const words = texts.agents
const idOf = ({ id }: AgentRow) => id
const sectionOf = ({ kind }: AgentRow) => words.sections[kind]

type Props = {
  workspaceId: string
  rows: readonly AgentRow[]
  find: string
  chip: Chip
  show: string | undefined
  /** Creates the first agent. */
  button: ReactNode
}

export function AgentList({ workspaceId, rows, find, chip, show, button }: Props) {
  const go = useAgentSearch()
  const usage = useUsage(workspaceId)
  const sought = useDeferredValue(find).trim().toLowerCase()
  const matching = useMemo(
    () => rows.filter((row) => row.name.toLowerCase().includes(sought) && isInChip(chip, row)),
    [rows, sought, chip],
  )
  const isNarrow = show !== undefined
  const columns = useMemo(
    () =>
      columnsFor(
        ({ id, kind, name }) =>
          usage ? agentUse(usage, kind === 'agent' ? { id } : { name }) : null,
        isNarrow,
      ),
    [usage, isNarrow],
  )
  const hasJobs = rows.some(({ kind }) => kind === 'workload')
  const noMatch = sought === '' ? words.noneOfState : words.noneFound(find)
  return (
    <DataGrid
      label={words.list}
      columns={columns}
      rows={matching}
      idOf={idOf}
      openId={show}
      onOpen={({ id }) => go({ show: id })}
      {...(hasJobs ? { sectionOf } : {})}
      empty={
        rows.length === 0 ? (
          <EmptyState icon={Bot} title={words.none} command={words.noneCommand} action={button} />
        ) : (
          <EmptyState icon={Bot} title={noMatch} />
        )
      }
      phone={(row) => <AgentPhoneRow row={row} />}
    />
  )
}
