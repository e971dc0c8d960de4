/** The column headers; a press on one sorts, a press on the sorted one turns the order around. */
import { ArrowDown, ArrowUp } from 'lucide-react'
import type { GridColumn } from './grid.tsx'
import type { Sorting } from './sorting.ts'

type Props<Row> = {
  columns: readonly GridColumn<Row>[]
  template: string
  sorting: Sorting | null
  sortBy(id: string): void
  isHidden: boolean
}

export function GridHeader<Row>({ columns, template, sorting, sortBy, isHidden }: Props<Row>) {
  const look = isHidden ? 'sr-only' : 'sticky top-0 z-1 grid h-8 items-center'
  return (
    // biome-ignore lint/a11y/useSemanticElements: see grid.tsx
    <div
      role="row"
      data-row={-1}
      aria-rowindex={1}
      className={`${look} border-b border-line bg-bg text-small font-medium text-ink-3`}
      style={isHidden ? undefined : { gridTemplateColumns: template }}
      tabIndex={-1}
    >
      {columns.map((column, at) => (
        <div
          key={column.id}
          role={column.header === '' ? 'gridcell' : 'columnheader'}
          data-column={isHidden ? undefined : at}
          aria-sort={sorting?.id === column.id ? sorting.order : undefined}
          className={`truncate px-2.5 ${at === 0 ? 'pl-5' : ''}`}
        >
          {column.sortBy && !isHidden ? (
            <button
              type="button"
              className="inline-flex items-center gap-1 hover:text-ink"
              onClick={() => sortBy(column.id)}
            >
              {column.header}
              <Order sorting={sorting?.id === column.id ? sorting : null} />
            </button>
          ) : (
            column.header
          )}
        </div>
      ))}
    </div>
  )
}

function Order({ sorting }: { sorting: Sorting | null }) {
  if (!sorting) return null
  const Arrow = sorting.order === 'ascending' ? ArrowUp : ArrowDown
  return <Arrow size={12} aria-hidden="true" />
}
