/** The columns of the agents, and their rows on a phone. */
import type { ReactNode } from 'react'
import type { GridColumn } from '../../parts/grid/grid.tsx'
import { Ago } from '../../parts/show/ago.tsx'
import { EnvironmentLabel } from '../../parts/show/environment_label.tsx'
import { Sparkline } from '../../parts/show/sparkline.tsx'
import { Status } from '../../parts/show/status.tsx'
import { texts } from '../../texts/index.ts'
import { findTightestLimit } from './limits.ts'
import { type AgentRow, type AgentState, agentScope, capabilitiesOf, isLive } from './rows.ts'
import { sumOf, type Use } from './use.ts'

const words = texts.agents
const { columns: heads } = words

const TONES = {
  active: 'green',
  expired: 'amber',
  revoked: 'neutral',
  rejected: 'red',
  none: 'neutral',
} as const satisfies Record<AgentState, string>

export function StateLabel({ state }: { state: AgentState }) {
  return (
    <Status tone={TONES[state]} dot={state === 'active'}>
      {words.states[state]}
    </Status>
  )
}

/** Null until the use is read. */
type UseOf = (row: AgentRow) => Use | null

/** Beside an inspector there is room for the first columns only. Their widths stay, so that nothing moves. */
export function columnsFor(useOf: UseOf, isNarrow: boolean): GridColumn<AgentRow>[] {
  const first: GridColumn<AgentRow>[] = [
    {
      ...{ id: 'name', header: heads.name, width: 'clamp(150px, 16vw, 300px)', isRowHeader: true },
      sortBy: ({ name }) => name,
      cell: ({ name, state }) => (
        <span className="flex items-center gap-2">
          <span className="truncate font-medium" title={name}>
            {name}
          </span>
          <StateLabel state={state} />
        </span>
      ),
    },
    {
      ...{ id: 'scope', header: heads.scope, width: 'clamp(110px, 13vw, 240px)' },
      sortBy: (row) => words.inPlace(agentScope(row).project, agentScope(row).environment),
      cell: (row) => <ScopeLabel row={row} />,
    },
    {
      ...{ id: 'used', header: heads.lastUsed, width: '92px' },
      sortBy: ({ lastUsedAt }) => lastUsedAt ?? '',
      cell: ({ lastUsedAt }) => <Time at={lastUsedAt} />,
    },
    {
      ...{ id: 'expires', header: heads.expires, width: '84px' },
      sortBy: ({ expiresAt }) => expiresAt ?? '9999',
      cell: ({ state, expiresAt }) =>
        state === 'active' ? <Time at={expiresAt} /> : <span className="text-ink-3">–</span>,
    },
    {
      ...{ id: 'days', header: heads.days, width: '88px' },
      sortBy: (row) => sumOf(useOf(row)?.calls ?? []),
      cell: (row) => <Days use={useOf(row)} />,
    },
  ]
  return isNarrow ? first : [...first, ...lastColumns]
}

const lastColumns: GridColumn<AgentRow>[] = [
  {
    ...{ id: 'can', header: heads.can, width: '92px' },
    sortBy: (row) => words.can(capabilitiesOf(row)),
    cell: (row) => (
      <span className="text-ink-2">
        {row.state === 'active' ? words.can(capabilitiesOf(row)) : '–'}
      </span>
    ),
  },
  {
    ...{ id: 'limits', header: heads.limits, width: 'minmax(150px, 1fr)' },
    cell: ({ tokens }) => <LimitsLeft tokens={tokens.filter(isLive)} />,
  },
]

function LimitsLeft({ tokens }: Pick<AgentRow, 'tokens'>) {
  const left = findTightestLimit(tokens)
  if (!left) return <span className="text-ink-3">{tokens.length > 0 ? words.noLimits : '–'}</span>
  return <span className={left.isSpent ? 'text-amber' : 'text-ink-2'}>{left.text}</span>
}

export function ScopeLabel({ row }: { row: AgentRow }) {
  const { project, environment, more } = agentScope(row)
  return (
    <span className="flex min-w-0 items-center gap-1.5" title={words.inPlace(project, environment)}>
      <span className="min-w-0 truncate">{project ?? words.whole}</span>
      {environment ? <EnvironmentLabel name={environment} /> : null}
      {more > 0 ? <span className="text-ink-3">{words.morePlaces(more)}</span> : null}
    </span>
  )
}

function Time({ at }: { at: string | null }): ReactNode {
  return <span className="text-ink-2">{at === null ? words.never : <Ago at={at} short />}</span>
}

function Days({ use }: { use: Use | null }) {
  if (!use) return null
  const { calls, refused } = use
  const total = sumOf(calls)
  if (total === 0) return <span className="text-ink-3">–</span>
  return <Sparkline values={calls} label={words.calls(total, sumOf(refused))} />
}

export function AgentPhoneRow({ row }: { row: AgentRow }) {
  return (
    <div className="flex items-center gap-3">
      <div className="min-w-0 flex-1">
        <div className="truncate font-medium">{row.name}</div>
        <div className="text-small text-ink-2">
          <ScopeLabel row={row} />
        </div>
      </div>
      <div className="flex shrink-0 flex-col items-end gap-1">
        <StateLabel state={row.state} />
        <span className="text-caption text-ink-3">
          {row.lastUsedAt ? (
            <>
              {words.used} <Ago at={row.lastUsedAt} />
            </>
          ) : (
            words.neverUsed
          )}
        </span>
      </div>
    </div>
  )
}
