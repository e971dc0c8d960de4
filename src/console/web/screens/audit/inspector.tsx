/** One event: its facts, and the records as JSON. */
import { Facts } from '../../parts/page/facts.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { Inspector } from '../../parts/page/inspector.tsx'
import { Loading } from '../../parts/page/loading.tsx'
import { Proof } from '../../parts/page/proof.tsx'
import { InspectorSection } from '../../parts/page/section.tsx'
import { CodeBlock } from '../../parts/show/code_block.tsx'
import { exactMomentOf } from '../../parts/show/moments.ts'
import { Tag } from '../../parts/show/tag.tsx'
import { texts } from '../../texts/index.ts'
import { CallMenu, CallSection, WhatHappened } from '../live/call.tsx'
import { callTitleOf } from '../live/words.ts'
import { whatOf } from './actions.ts'
import { namesIn, Result, whereOf, whoOf } from './columns.tsx'
import type { RecordGroup } from './groups.ts'
import type { ProjectNames } from './projects.ts'
import { useRecord } from './records.ts'

const words = texts.audit

type Props = { workspaceId: string; projects: ProjectNames; onClose(): void }

/** `groups` may not have it: a link can name a record of any time. */
export function OpenedEvent({
  id,
  groups,
  ...props
}: Props & { id: string; groups: readonly RecordGroup[] }) {
  const listed = groups.find((group) => group.id === id)
  const { data, error } = useRecord(props.workspaceId, id, listed === undefined)
  if (listed) return <Event group={listed} {...props} />
  if (data) return <Event group={{ id, records: [data] }} {...props} />
  return (
    <Inspector title={error ? words.gone : words.event} onClose={props.onClose}>
      <div className="px-4 py-2">{error ? <FailureNote error={error} /> : <Loading />}</div>
    </Inspector>
  )
}

function Event({ group, ...props }: Props & { group: RecordGroup }) {
  const { workspaceId, onClose } = props
  const [record] = group.records
  const isCall = record.action === null
  return (
    <Inspector
      key={group.id}
      title={isCall ? callTitleOf(record) : whatOf(group)}
      status={<Result group={group} />}
      badge={isCall ? <CallMenu workspaceId={workspaceId} call={record} /> : null}
      onClose={onClose}
    >
      {isCall ? (
        <>
          <WhatHappened call={record} />
          <CallSection call={record} />
        </>
      ) : (
        <ChangeSection group={group} projects={props.projects} />
      )}
      <section className="border-t border-line px-4 py-3">
        <Proof label={words.asJson}>
          <CodeBlock text={jsonOf(group)} name={words.json} />
        </Proof>
      </section>
    </Inspector>
  )
}

function ChangeSection({ group, projects }: { group: RecordGroup; projects: ProjectNames }) {
  const { name, rest } = whereOf(group, projects)
  const [{ timestamp, decision }] = group.records
  const names = namesIn(group)
  const { columns } = words
  return (
    <>
      {decision === 'blocked' ? <p className="px-4 pb-3 text-ink-2">{words.needsRole}</p> : null}
      <InspectorSection title={words.event}>
        <Facts
          rows={[
            [columns.time, exactMomentOf(timestamp)],
            [columns.who, whoOf(group)],
            ...(name ? [[columns.where, `${name}${rest}`] as const] : []),
          ]}
        />
      </InspectorSection>
      {names.length > 0 ? (
        <InspectorSection title={words.secrets(names.length)}>
          <ul className="flex flex-wrap gap-1">
            {names.map((each) => (
              <li key={each} className="max-w-full">
                <Tag>{each}</Tag>
              </li>
            ))}
          </ul>
        </InspectorSection>
      ) : null}
    </>
  )
}

function jsonOf({ records: [record, ...others] }: RecordGroup): string {
  return JSON.stringify(others.length === 0 ? record : [record, ...others], null, 2)
}
