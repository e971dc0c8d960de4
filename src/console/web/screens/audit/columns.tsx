/** A row of the audit log: one record, or the records of one change. */
import { ArrowDown, ArrowUp } from 'lucide-react'
import type { GridColumn } from '../../parts/grid/grid.tsx'
import { opensColumn } from '../../parts/grid/opens.tsx'
import { Icon } from '../../parts/icon.tsx'
import { exactMomentOf, timeOf } from '../../parts/show/moments.ts'
import { Status } from '../../parts/show/status.tsx'
import { Tag } from '../../parts/show/tag.tsx'
import { UrlText } from '../../parts/show/url.tsx'
import { texts } from '../../texts/index.ts'
import { callHostOf, callOutcomeOf, callPathOf, secretsOf } from '../live/words.ts'
import { resultOf, whatOf } from './actions.ts'
import type { RecordGroup } from './groups.ts'
import type { ProjectNames } from './projects.ts'

const words = texts.audit

export function columnsOf(
  projects: ProjectNames,
  order: 'newest' | 'oldest',
  turn: () => void,
): GridColumn<RecordGroup>[] {
  return [
    {
      id: 'time',
      header: <TimeHeader order={order} turn={turn} />,
      width: '96px',
      cell: (group) => <Time group={group} />,
    },
    {
      id: 'who',
      header: words.columns.who,
      width: '132px',
      cell: (group) => <Who group={group} />,
      isRowHeader: true,
    },
    {
      id: 'what',
      header: words.columns.what,
      width: '150px',
      cell: (group) => <What group={group} />,
    },
    {
      id: 'where',
      header: words.columns.where,
      width: 'minmax(140px, 1fr)',
      cell: (group) => <Where group={group} projects={projects} />,
    },
    {
      id: 'secret',
      header: words.columns.secret,
      width: 'minmax(100px, 0.5fr)',
      cell: (group) => <Secrets group={group} />,
    },
    {
      id: 'result',
      header: words.columns.result,
      width: '96px',
      cell: (group) => <Result group={group} />,
    },
    opensColumn,
  ]
}

function TimeHeader({ order, turn }: { order: 'newest' | 'oldest'; turn(): void }) {
  return (
    <button
      type="button"
      aria-label={words.timeOrder[order]}
      onClick={turn}
      className="inline-flex items-center gap-1 hover:text-ink"
    >
      {words.columns.time}
      <Icon of={order === 'newest' ? ArrowDown : ArrowUp} size={12} />
    </button>
  )
}

type Props = { group: RecordGroup }

function Time({ group: { records } }: Props) {
  const { timestamp } = records[0]
  return (
    <time dateTime={timestamp} title={exactMomentOf(timestamp)} className="text-ink-3 tabular-nums">
      {timeOf(timestamp)}
    </time>
  )
}

function Who({ group }: Props) {
  return <span title={whoOf(group)}>{shortWhoOf(group)}</span>
}

export function whoOf({ records: [{ agent_id }] }: RecordGroup): string {
  return agent_id || texts.live.anonymous
}

/** A person, by the part of the email before the @. */
function shortWhoOf(group: RecordGroup): string {
  const [who = ''] = group.records[0].user_id === null ? [] : whoOf(group).split('@')
  return who || whoOf(group)
}

function What({ group }: Props) {
  const isCall = group.records[0].action === null
  return (
    <span className={isCall ? 'font-mono text-caption font-medium text-ink-2' : 'text-ink-2'}>
      {whatOf(group)}
    </span>
  )
}

function Where({ group, projects }: Props & { projects: ProjectNames }) {
  const { name, rest } = whereOf(group, projects)
  return <UrlText host={name} path={rest} />
}

/** The address of a call, the project of secrets, or the name of what was changed. */
export function whereOf({ records: [record, ...others] }: RecordGroup, projects: ProjectNames) {
  const { action, resource, project_id, environment } = record
  if (action === null) return { name: callHostOf(record), rest: callPathOf(record) }
  const project = projects.get(project_id ?? '') ?? ''
  const place = environment ? ` / ${environment}` : ''
  const isInPlace = resource === null || resource.type === 'secret' || resource.type === 'endpoint'
  if (isInPlace || others.length > 0)
    return { name: project || environment || '', rest: project && place }
  return { name: resource.name ?? project, rest: '' }
}

export function namesIn({ records }: RecordGroup): string[] {
  return [...new Set(records.flatMap(secretsOf))]
}

function Secrets({ group }: Props) {
  const names = namesIn(group)
  const [name] = names
  if (name === undefined) return null
  if (names.length === 1) return <Tag>{name}</Tag>
  return <Status tone="neutral">{words.secrets(names.length)}</Status>
}

export function Result({ group: { records } }: Props) {
  const [record] = records
  const { text, tone } = record.action === null ? callOutcomeOf(record) : resultOf(record)
  return <Status tone={tone}>{text}</Status>
}

export function phoneRow(projects: ProjectNames) {
  return (group: RecordGroup) => {
    const { name, rest } = whereOf(group, projects)
    const names = namesIn(group)
    const secrets = names.length > 1 ? words.secrets(names.length) : names[0]
    return (
      <span className="flex items-center gap-3">
        <span className="min-w-0 flex-1">
          <span className="block truncate text-ink-2">
            <span className="font-medium text-ink">{shortWhoOf(group)}</span> {whatOf(group)}
          </span>
          <span className="block truncate text-small text-ink-3">
            {[`${name}${rest}`, secrets].filter(Boolean).join(' · ')}
          </span>
        </span>
        <span className="flex shrink-0 flex-col items-end gap-1">
          <Result group={group} />
          <span className="text-caption">
            <Time group={group} />
          </span>
        </span>
      </span>
    )
  }
}
