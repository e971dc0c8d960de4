/** The records by day, read on as the list is scrolled, from the newest or from the oldest. */
import { ScrollText } from 'lucide-react'
import { useEffect, useMemo, useRef } from 'react'
import { Button } from '../../parts/button.tsx'
import { DataGrid } from '../../parts/grid/grid.tsx'
import { EmptyState } from '../../parts/page/empty_state.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { SkeletonRows } from '../../parts/page/skeleton.tsx'
import { dayText } from '../../parts/show/moments.ts'
import { texts } from '../../texts/index.ts'
import { columnsOf, phoneRow } from './columns.tsx'
import { isFiltered, recordFilters, useFilters } from './filters.ts'
import type { RecordGroup } from './groups.ts'
import type { ProjectNames } from './projects.ts'
import type { useRecords } from './records.ts'

const words = texts.audit

/** The inspector shows the secrets, and takes the room. */
const HIDDEN_WHEN_OPEN = ['secret', 'open']

type Props = {
  workspaceId: string
  read: ReturnType<typeof useRecords>
  groups: readonly RecordGroup[]
  projects: ProjectNames
}

export function AuditList({ workspaceId, read, groups, projects }: Props) {
  const { filters, change } = useFilters()
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } = read
  const order = filters.order === 'oldest' ? 'oldest' : 'newest'
  const turn = () => change({ order: order === 'newest' ? 'oldest' : undefined })
  const jump = useJump(turn, data !== undefined)
  const isOpen = filters.open !== undefined
  // biome-ignore lint/correctness/useExhaustiveDependencies: `turn` depends on the order alone.
  const columns = useMemo(() => {
    const all = columnsOf(projects, order, turn)
    return isOpen ? all.filter(({ id }) => !HIDDEN_WHEN_OPEN.includes(id)) : all
  }, [projects, order, isOpen])
  const phone = useMemo(() => phoneRow(projects), [projects])
  if (error && !data) return <Failed error={error} retry={() => void refetch()} />
  if (!data) return <SkeletonRows count={14} height={34} hasHeader />
  const loadMore = () => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage()
  }
  return (
    <>
      <p role="status" className="sr-only">
        {words.shown(data.length, !hasNextPage, order === 'newest')}
      </p>
      <DataGrid
        key={JSON.stringify([recordFilters(workspaceId, filters), order])}
        label={words.records}
        columns={columns}
        rows={groups}
        idOf={idOf}
        sectionOf={sectionOf}
        openId={filters.open}
        onOpen={({ id }) => change({ open: id })}
        onEnd={loadMore}
        onJump={hasNextPage ? jump : undefined}
        phone={phone}
        isCompact
        empty={<NoEvents />}
      />
    </>
  )
}

const idOf = ({ id }: RecordGroup) => id

const sections = new Map<string, string>()

/** To format each of 100,000 rows would take a second. */
function sectionOf({ records: [{ timestamp }] }: RecordGroup): string {
  const day = new Date(timestamp).toDateString()
  const known = sections.get(day) ?? dayText(timestamp)
  sections.set(day, known)
  return known
}

/** The End key reads from the other end. The new list has the focus then. */
function useJump(turn: () => void, isRead: boolean) {
  const isJumping = useRef(false)
  useEffect(() => {
    if (!isJumping.current || !isRead) return
    isJumping.current = false
    document.querySelector<HTMLElement>('[role="grid"] [data-row="0"] [data-column="0"]')?.focus()
  })
  const jump = () => {
    isJumping.current = true
    turn()
  }
  return jump
}

function Failed({ error, retry }: { error: unknown; retry(): void }) {
  return (
    <div className="flex flex-col items-start gap-3 p-5">
      <FailureNote error={error} />
      <Button onPress={retry}>{texts.errors.tryAgain}</Button>
    </div>
  )
}

function NoEvents() {
  const { filters, change, clear } = useFilters()
  if (isFiltered(filters)) {
    return (
      <EmptyState
        icon={ScrollText}
        title={words.none}
        action={<Button onPress={clear}>{words.showAll}</Button>}
        command={words.command}
      />
    )
  }
  const showLonger = () => change({ period: '90d', since: undefined, until: undefined })
  return (
    <EmptyState
      icon={ScrollText}
      title={words.noneYet}
      {...(filters.period === '90d'
        ? {}
        : { action: <Button onPress={showLonger}>{words.showLonger}</Button> })}
      command={words.command}
    />
  )
}
