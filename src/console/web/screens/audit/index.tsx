/** The audit of a workspace: filters that are in the address, a chart of the days, and the records themselves. */

import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { summariseAudit } from '../../../../features/audit/contract.ts'
import { api } from '../../api.ts'
import { Button } from '../../parts/button.tsx'
import { TextField } from '../../parts/fields/text_field.tsx'
import { FieldForm } from '../../parts/form.tsx'
import { EmptyState } from '../../parts/page/empty_state.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { Loading } from '../../parts/page/loading.tsx'
import { daysBetween } from '../../parts/show/day_scale.ts'
import { type DaySeries, StackedBars } from '../../parts/show/stacked_bars.tsx'
import { DataTable, type TableColumn } from '../../parts/table.tsx'
import { texts } from '../../texts/index.ts'
import { Export } from './export.tsx'
import type { AuditFilters } from './records.ts'
import { type ListedRecord, useRecords } from './records.ts'
import { SeenBy } from './seen.tsx'

const route = getRouteApi('/w/$workspaceId/audit')
const words = texts.audit
const moments = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

const columns: readonly TableColumn<ListedRecord>[] = [
  {
    id: 'when',
    header: words.when,
    isRowHeader: true,
    isShort: true,
    cell: ({ timestamp }) => moments.format(new Date(timestamp)),
  },
  { id: 'actor', header: words.actor, cell: ({ agent_id }) => agent_id },
  { id: 'action', header: words.action, cell: ({ action, method }) => action ?? method },
  { id: 'target', header: words.target, cell: targetOf },
  { id: 'result', header: words.result, cell: resultOf },
  { id: 'credential', header: words.credential, cell: ({ credential_ref }) => credential_ref },
]

function targetOf({ action, resource, target_domain, target_path }: ListedRecord): string {
  if (action !== null) return resource?.name ?? resource?.id ?? ''
  return `${target_domain ?? ''}${target_path ?? ''}`
}

function resultOf({ decision, reason, status_code }: ListedRecord) {
  if (decision === null || decision === 'allowed') return status_code
  return words.decision(decision, reason)
}

export function AuditScreen() {
  const { workspaceId } = route.useParams()
  const filters = route.useSearch()
  return (
    <section className="stack">
      <h1>{words.title}</h1>
      <FilterBar key={JSON.stringify(filters)} filters={filters} />
      <Days workspaceId={workspaceId} since={filters.since} until={filters.until} />
      {filters.credential ? (
        <SeenBy workspaceId={workspaceId} environment={filters.environment ?? null} />
      ) : null}
      <Records />
    </section>
  )
}

function Records() {
  const { workspaceId } = route.useParams()
  const filters = route.useSearch()
  const navigate = useNavigate()
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } = useRecords(
    workspaceId,
    filters,
  )
  if (error && !data) {
    return (
      <>
        <FailureNote error={error} />
        <div>
          <Button onPress={() => refetch()}>{texts.errors.tryAgain}</Button>
        </div>
      </>
    )
  }
  if (!data) return <Loading />
  const more = () => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage()
  }
  const { order, ...others } = filters
  const isNewest = order === undefined
  const turn = () =>
    void navigate({
      from: '/w/$workspaceId/audit',
      to: '/w/$workspaceId/audit',
      search: isNewest ? { ...others, order: 'oldest' } : others,
    })
  return (
    <>
      <div className="row">
        <span className="soft" role="status">
          {words.shown(data.length, !hasNextPage, isNewest)}
        </span>
        <Button kind="ghost" onPress={turn}>
          {isNewest ? words.toOldest : words.toNewest}
        </Button>
        <Export workspaceId={workspaceId} filters={filters} />
      </div>
      <DataTable
        label={words.records}
        columns={columns}
        rows={data}
        idOf={({ id }) => id}
        onEnd={more}
        onJump={hasNextPage ? turn : undefined}
        isCards
        empty={
          <EmptyState title={words.none} command={words.noneCommand}>
            <p>{words.noneHelp}</p>
          </EmptyState>
        }
      />
    </>
  )
}

const daysWords = texts.audit

type Props = { workspaceId: string; since?: string | undefined; until?: string | undefined }

function Days({ workspaceId, since, until }: Props) {
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
    const series: DaySeries[] = [{ label: daysWords.chart, values, tone: 'accent' }]
    return { days, series }
  }, [data])
  // The records fail with the same daysWords.
  if (!data) return null
  const { requests, blocked, errors } = data.totals
  return (
    <StackedBars
      label={daysWords.chart}
      text={daysWords.chartText(requests, blocked, errors)}
      {...drawn}
    />
  )
}

const filtersWords = texts.audit
const fields = [
  ...(['actor', 'domain', 'credential', 'environment', 'action', 'since', 'until'] as const),
]

function FilterBar({ filters }: { filters: AuditFilters }) {
  const [typed, setTyped] = useState(filters)
  const navigate = useNavigate()
  const show = (search: AuditFilters) =>
    void navigate({ from: '/w/$workspaceId/audit', to: '/w/$workspaceId/audit', search })
  const submit = () => {
    show(typed)
  }
  return (
    <FieldForm className="row" onSubmit={submit}>
      {fields.map((name) => (
        <TextField
          key={name}
          label={filtersWords.fields[name]}
          type={name === 'since' || name === 'until' ? 'date' : 'text'}
          autoComplete="off"
          value={typed[name] ?? ''}
          onChange={(text) => {
            const { [name]: _, ...others } = typed
            setTyped(text === '' ? others : { ...others, [name]: text })
          }}
        />
      ))}
      <Button type="submit">{filtersWords.filter}</Button>
      <Button kind="ghost" onPress={() => show({})}>
        {filtersWords.clear}
      </Button>
    </FieldForm>
  )
}
