/** The last 24 hours: calls by hour, the agents that made them, and changes by people. */
import { Stat } from '../../parts/page/stat.tsx'
import { Ago } from '../../parts/show/ago.tsx'
import { Avatar } from '../../parts/show/avatar.tsx'
import { texts } from '../../texts/index.ts'
import { Histogram } from '../live/histogram.tsx'
import type { OverviewData } from './attention_rows.ts'
import { Block, Nothing } from './block.tsx'

const words = texts.overview

type Props = { workspaceId: string; overview: OverviewData }

const MAX_AGENTS = 6

export function LastDay({ workspaceId, overview: { calls, hours } }: Props) {
  const totals = calls.data?.totals
  const bars = (hours.data ?? []).map(({ allowed, blocked, errors }) => ({
    passed: allowed + errors,
    refused: blocked,
  }))
  const link = {
    to: '/w/$workspaceId/live',
    params: { workspaceId },
    label: words.openLive,
  } as const
  return (
    <Block title={words.lastDay} link={link} linkLabel={words.openLive}>
      {totals ? (
        <div className="flex flex-col gap-4 border-t border-line p-3">
          <div className="grid grid-cols-4 gap-2">
            <Stat value={words.number(totals.requests)} label={words.calls} />
            <Stat value={words.number(totals.allowed)} label={words.allowed} />
            <Stat
              value={words.number(totals.blocked)}
              label={words.refused}
              tone={totals.blocked > 0 ? 'red' : undefined}
            />
            <Stat
              value={words.number(totals.errors)}
              label={words.failed}
              tone={totals.errors > 0 ? 'amber' : undefined}
            />
          </div>
          <Histogram bars={bars} label={words.byHour} isWide />
          <p aria-hidden="true" className="flex justify-between text-caption text-ink-3">
            <span>{words.dayAgo}</span>
            <span>{words.now}</span>
          </p>
        </div>
      ) : (
        <Nothing text={words.notRead} />
      )}
    </Block>
  )
}

export function ActiveAgents({ workspaceId, overview: { calls } }: Props) {
  const agents = calls.data?.by_agent ?? []
  const isRead = calls.data !== null
  const link = { to: '/w/$workspaceId/agents', params: { workspaceId } } as const
  return (
    <Block
      title={words.activeAgents}
      {...(isRead ? { note: String(agents.length) } : {})}
      link={link}
      linkLabel={words.openAgents}
    >
      {agents.length === 0 ? <Nothing text={isRead ? words.noAgents : words.notRead} /> : null}
      <ul aria-label={words.activeAgents}>
        {agents.slice(0, MAX_AGENTS).map(({ agent_id: name, count, last_used_at: at }) => (
          <li key={name} className="flex h-9.5 items-center gap-2.5 border-t border-line px-3">
            <Avatar name={name || words.anonymous} shape="square" size={22} />
            <span className="min-w-0 flex-1 truncate font-medium">{name || words.anonymous}</span>
            <span className="text-ink-2 tabular-nums">{words.callCount(count)}</span>
            <span className="w-14 text-right text-ink-3">
              <Ago at={at} short />
            </span>
          </li>
        ))}
      </ul>
    </Block>
  )
}

export function RecentChanges({ workspaceId, overview: { changes } }: Props) {
  const records = changes.data ?? []
  const link = { to: '/w/$workspaceId/audit', params: { workspaceId } } as const
  return (
    <Block title={words.changes} link={link} linkLabel={words.openAudit}>
      {records.length === 0 ? (
        <Nothing text={changes.data ? words.noChanges : words.notRead} />
      ) : null}
      <ul aria-label={words.changes}>
        {records.map(({ id, action, resource, agent_id: who, environment, timestamp }) => (
          <li key={id} className="flex h-9.5 items-center gap-2.5 border-t border-line px-3">
            <span className="min-w-0 flex-1 truncate">
              <span className="font-medium">{words.change(action ?? '')}</span>{' '}
              {[resource?.name, environment].filter(Boolean).join(' · ')}
            </span>
            <span className="max-w-[40%] truncate text-ink-3 phone:hidden">{who}</span>
            <span className="w-14 shrink-0 text-right text-ink-3">
              <Ago at={timestamp} short />
            </span>
          </li>
        ))}
      </ul>
    </Block>
  )
}
