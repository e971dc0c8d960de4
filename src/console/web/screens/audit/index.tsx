/** The audit of a workspace: filters that are in the address, a chart of the days, and the records themselves. */
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { Button } from '../../parts/button.tsx'
import { EmptyState } from '../../parts/states/empty_state.tsx'
import { FailureNote } from '../../parts/states/failure.tsx'
import { Loading } from '../../parts/states/loading.tsx'
import { DataTable, type TableColumn } from '../../parts/table.tsx'
import { texts } from '../../texts/index.ts'
import { Days } from './days.tsx'
import { Export } from './export.tsx'
import { FilterBar } from './filters.tsx'
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
        <Button kind="quiet" onPress={turn}>
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
