/** The list of calls under fixed columns. */
import { Activity } from 'lucide-react'
import { Button } from '../../parts/button.tsx'
import { DataGrid, type GridColumn } from '../../parts/grid/grid.tsx'
import { EmptyState } from '../../parts/page/empty_state.tsx'
import { SkeletonRows } from '../../parts/page/skeleton.tsx'
import { clockOf } from '../../parts/show/moments.ts'
import { Status } from '../../parts/show/status.tsx'
import { Tag } from '../../parts/show/tag.tsx'
import { UrlText } from '../../parts/show/url.tsx'
import { texts } from '../../texts/index.ts'
import type { LiveCall } from './stream.ts'
import { callHostOf, callOutcomeOf, callPathOf, callTitleOf, secretsOf } from './words.ts'

const words = texts.live

const columns: readonly GridColumn<LiveCall>[] = [
  { id: 'time', header: words.columns.time, width: '88px', cell: (call) => <Time call={call} /> },
  {
    id: 'result',
    header: words.columns.result,
    width: '86px',
    cell: (call) => <CallResultCell call={call} />,
  },
  { id: 'agent', header: words.columns.agent, width: '102px', cell: agentOf },
  {
    id: 'request',
    header: words.columns.request,
    width: 'minmax(0, 1fr)',
    cell: (call) => <Request call={call} />,
    isRowHeader: true,
  },
  {
    id: 'secret',
    header: words.columns.secret,
    width: '154px',
    cell: (call) => <Secrets call={call} />,
  },
]

type Props = {
  calls: readonly LiveCall[]
  openId: string | undefined
  onOpen(call: LiveCall): void
  isLoading: boolean
  /** No call will arrive any more. */
  hasEnded: boolean
  isFiltered: boolean
  onShowAll(): void
}

export function Calls(props: Props) {
  const { calls, openId, onOpen, isLoading, hasEnded, isFiltered, onShowAll } = props
  if (isLoading && calls.length === 0)
    return hasEnded ? null : <SkeletonRows count={14} hasHeader />
  return (
    <DataGrid
      label={words.list}
      columns={columns}
      rows={calls}
      idOf={idOf}
      openId={openId}
      onOpen={onOpen}
      phone={phoneRow}
      empty={isFiltered ? <NoneFound onShowAll={onShowAll} /> : <None />}
    />
  )
}

const idOf = ({ id }: LiveCall) => id

function agentOf({ agent_id }: LiveCall): string {
  return agent_id || words.anonymous
}

function None() {
  return <EmptyState icon={Activity} title={words.none} command={words.noneCommand} />
}

function NoneFound({ onShowAll }: { onShowAll(): void }) {
  return (
    <EmptyState
      icon={Activity}
      title={words.noneFound}
      action={<Button onPress={onShowAll}>{words.showAll}</Button>}
    />
  )
}

function Time({ call: { timestamp } }: { call: LiveCall }) {
  return (
    <time dateTime={timestamp} className="text-ink-3 tabular-nums">
      {clockOf(timestamp)}
    </time>
  )
}

export function CallResultCell({ call }: { call: LiveCall }) {
  const { text, tone } = callOutcomeOf(call)
  return <Status tone={tone}>{text}</Status>
}

function Request({ call }: { call: LiveCall }) {
  if (callHostOf(call) === '') return <span className="text-ink-3">{callTitleOf(call)}</span>
  return <UrlText method={call.method ?? ''} host={callHostOf(call)} path={callPathOf(call)} />
}

function Secrets({ call }: { call: LiveCall }) {
  const [first, ...others] = secretsOf(call)
  if (first === undefined) return null
  return (
    <span className="flex min-w-0 items-center gap-1">
      <Tag>{first}</Tag>
      {others.length > 0 ? (
        <span className="text-small text-ink-3">{words.moreSecrets(others.length)}</span>
      ) : null}
    </span>
  )
}

function phoneRow(call: LiveCall) {
  return (
    <span className="flex items-center gap-3">
      <span className="min-w-0 flex-1">
        <Request call={call} />
        <span className="block truncate text-small text-ink-3">
          {[agentOf(call), ...secretsOf(call)].join(' · ')}
        </span>
      </span>
      <span className="flex shrink-0 flex-col items-end gap-1">
        <CallResultCell call={call} />
        <span className="text-caption">
          <Time call={call} />
        </span>
      </span>
    </span>
  )
}
