/** The column headers; a press on one sorts, a press on the sorted one turns the order around. */
import { ArrowDown, ArrowUp } from 'lucide-react'
import { SCROLLBAR_ROOM } from './layout.ts'
import type { Sorting } from './sorting.ts'
import type { GridColumn } from './types.ts'

type Props<Row> = {
  columns: readonly GridColumn<Row>[]
  sorting: Sorting | null
  sortBy(id: string): void
  isHidden: boolean
}

export function GridHeader<Row>({ columns, sorting, sortBy, isHidden }: Props<Row>) {
  const look = isHidden
    ? 'sr-only'
    : `sticky top-0 z-1 grid h-8 min-w-fit grid-cols-(--grid-columns) items-center ${SCROLLBAR_ROOM}`
  return (
    // biome-ignore lint/a11y/useSemanticElements: see grid.tsx
    <div
      role="row"
      data-row={-1}
      aria-rowindex={1}
      className={`${look} border-b border-line bg-bg text-small font-medium text-ink-3`}
      tabIndex={-1}
    >
      {columns.map((column, at) => (
        <HeaderCell
          key={column.id}
          column={column}
          at={at}
          sorting={sorting?.id === column.id ? sorting : null}
          sort={column.sortBy && !isHidden ? () => sortBy(column.id) : null}
          isHidden={isHidden}
        />
      ))}
    </div>
  )
}

type CellProps<Row> = {
  column: GridColumn<Row>
  at: number
  sorting: Sorting | null
  sort: (() => void) | null
  isHidden: boolean
}

function HeaderCell<Row>({ column, at, sorting, sort, isHidden }: CellProps<Row>) {
  return (
    // A column of menus has no name.
    // biome-ignore lint/a11y/useAriaPropsSupportedByRole: only headers sort.
    <div
      role={column.header === '' ? 'gridcell' : 'columnheader'}
      data-column={isHidden ? undefined : at}
      aria-sort={sorting?.order}
      className={`truncate px-2.5 ${at === 0 ? 'pl-5' : ''}`}
    >
      {sort ? (
        <button
          type="button"
          className="inline-flex items-center gap-1 hover:text-ink"
          onClick={sort}
        >
          {column.header}
          <Order sorting={sorting} />
        </button>
      ) : (
        column.header
      )}
    </div>
  )
}

function Order({ sorting }: { sorting: Sorting | null }) {
  if (!sorting) return null
  const Arrow = sorting.order === 'ascending' ? ArrowUp : ArrowDown
  return <Arrow size={12} aria-hidden="true" />
}
