/** One agent, or one token of a container or CI job: what it can do, its tokens, its limits and its calls. */
import { Plus } from 'lucide-react'
import { Button } from '../../../parts/button.tsx'
import { ConfirmButton } from '../../../parts/overlays/confirm.tsx'
import { say } from '../../../parts/overlays/toasts.tsx'
import { Facts } from '../../../parts/page/facts.tsx'
import { Inspector } from '../../../parts/page/inspector.tsx'
import { Proof } from '../../../parts/page/proof.tsx'
import { InspectorSection } from '../../../parts/page/section.tsx'
import { Ago } from '../../../parts/show/ago.tsx'
import { StackedBars } from '../../../parts/show/stacked_bars.tsx'
import { useCommand } from '../../../queries.ts'
import { texts } from '../../../texts/index.ts'
import { useUsage } from '../../../usage.ts'
import { ScopeLabel, StateLabel } from '../columns.tsx'
import { useAgentSearch } from '../place.ts'
import { type AgentRow, capabilitiesOf } from '../rows.ts'
import { agentUse, sumOf } from '../use.ts'
import { Tokens } from './tokens.tsx'

const words = texts.agents
const { columns: heads } = words
/** The dates that fit below the chart. */
const LABELS = 4

type Props = { row: AgentRow; onClose(): void }

export function AgentInspector({ row, onClose }: Props) {
  return (
    <Inspector
      title={row.name}
      badge={<StateLabel state={row.state} />}
      onClose={onClose}
      footer={row.kind === 'agent' ? <AgentActions row={row} onClose={onClose} /> : undefined}
    >
      <div className="px-4 pb-3">
        <Facts rows={factsOf(row)} />
      </div>
      <InspectorSection title={words.tokens}>
        <Tokens row={row} />
      </InspectorSection>
      <InspectorSection title={words.byDay}>
        <Calls row={row} />
      </InspectorSection>
      <div className="border-t border-line px-4 py-3">
        <Proof>
          <Facts rows={[[row.kind === 'agent' ? words.agentId : words.tokenId, row.id]]} />
        </Proof>
      </div>
    </Inspector>
  )
}

function factsOf(row: AgentRow) {
  const { state, lastUsedAt, expiresAt } = row
  const isActive = state === 'active'
  return [
    [heads.scope, <ScopeLabel key="scope" row={row} />] as const,
    [heads.can, isActive ? words.can(capabilitiesOf(row)) : '–'] as const,
    [heads.lastUsed, lastUsedAt ? <Ago key="used" at={lastUsedAt} /> : words.never] as const,
    [
      heads.expires,
      isActive && expiresAt ? <Ago key="ends" at={expiresAt} /> : words.never,
    ] as const,
  ]
}

function Calls({ row: { owner, kind, id, name } }: { row: AgentRow }) {
  const usage = useUsage(owner.workspaceId)
  if (!usage) return null
  const { days, calls, refused } = agentUse(usage, kind === 'agent' ? { id } : { name })
  const allowed = calls.map((count, day) => count - (refused[day] ?? 0))
  return (
    <StackedBars
      label={words.byDay}
      text={words.callsMade(sumOf(calls))}
      days={days}
      labels={LABELS}
      series={[
        { label: words.allowed, tone: 'accent', values: allowed },
        { label: words.refused, tone: 'red', values: refused },
      ]}
    />
  )
}

function AgentActions({ row, onClose }: Props) {
  const { id, name, owner } = row
  const go = useAgentSearch()
  const remove = useCommand('agents.remove', { changes: ['agents.list', 'agents.all'] })
  return (
    <>
      <Button
        icon={Plus}
        onPress={() => go({ make: id, show: id })}
        aria-label={words.makeFor(name)}
      >
        {words.makeToken}
      </Button>
      <span className="ml-auto">
        <ConfirmButton
          verb={words.remove}
          title={words.removeNamed(name)}
          onConfirm={async () => {
            const { workspaceId } = owner
            const { isUnsigned } = await remove.mutateAsync({ workspaceId, agentId: id })
            say(words.removed(name))
            if (isUnsigned) say(words.unsigned)
            onClose()
          }}
        >
          <p>{words.removing(name)}</p>
          <p>{words.noUndo}</p>
        </ConfirmButton>
      </span>
    </>
  )
}
