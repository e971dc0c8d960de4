/**
 * Rows under columns, sorted by a press on a header. Only what is in sight is in the page, so that 100,000 rows scroll
 * like ten; a reader of the screen hears how many there are.
 */
import {
  createSortedRowModel,
  rowSortingFeature,
  sortFn_alphanumeric,
  type Column as TableColumn,
  tableFeatures,
  useTable,
} from '@tanstack/react-table'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useMemo, useRef } from 'react'

export type Column<Row> = {
  id: string
  header: string
  cell(row: Row): ReactNode
  /** What the column is sorted by; it cannot be sorted without. */
  sortBy?(row: Row): string | number
  /** It names the row. */
  isRowHeader?: boolean
}

type Props<Row> = {
  /** What is listed, for who does not see it. */
  label: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  idOf(row: Row): string
  /** Shown in the place of no rows. */
  empty?: ReactNode
  /** Called when the last rows come into sight: the next page is read. */
  onEnd?(): void
}

const ROW_HEIGHT = 40
const MORE_ROWS = 12

const features = tableFeatures({
  rowSortingFeature,
  sortedRowModel: createSortedRowModel(),
  sortFns: { alphanumeric: sortFn_alphanumeric },
})

export function Table<Row extends object>({
  label,
  columns,
  rows,
  idOf,
  empty,
  onEnd,
}: Props<Row>) {
  const defined = useMemo(
    () =>
      columns.map(({ id, header, cell, sortBy }) => ({
        id,
        header,
        accessorFn: (row: Row) => sortBy?.(row) ?? '',
        cell: ({ row }: { row: { original: Row } }) => cell(row.original),
        enableSorting: sortBy !== undefined,
        sortFn: 'alphanumeric' as const,
      })),
    [columns],
  )
  const table = useTable({ features, columns: defined, data: rows, getRowId: idOf })
  const shown = table.getRowModel().rows
  const scroller = useRef<HTMLElement>(null)
  const virtual = useVirtualizer({
    count: shown.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: MORE_ROWS,
    onChange: ({ range }) => {
      if (range && range.endIndex >= shown.length - 1) onEnd?.()
    },
  })
  if (rows.length === 0) return empty
  const seen = virtual.getVirtualItems()
  const above = seen[0]?.start ?? 0
  const below = virtual.getTotalSize() - (seen.at(-1)?.end ?? 0)
  const named = new Map(columns.map((column) => [column.id, column]))
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keys.
    <section ref={scroller} className="table-scroller" aria-label={label} tabIndex={0}>
      <table className="table" aria-label={label} aria-rowcount={shown.length + 1}>
        <thead>
          <tr>
            {table.getHeaderGroups()[0]?.headers.map(({ column }) => (
              <Header key={column.id} column={column} text={named.get(column.id)?.header ?? ''} />
            ))}
          </tr>
        </thead>
        <tbody>
          {above > 0 ? <Gap height={above} columns={columns.length} /> : null}
          {seen.map(({ index, key }) => {
            const row = shown[index]
            return row ? (
              <tr
                key={key}
                ref={virtual.measureElement}
                data-index={index}
                aria-rowindex={index + 2}
              >
                {columns.map(({ id, cell, isRowHeader }) =>
                  isRowHeader ? (
                    <th key={id} scope="row">
                      {cell(row.original)}
                    </th>
                  ) : (
                    <td key={id}>{cell(row.original)}</td>
                  ),
                )}
              </tr>
            ) : null
          })}
          {below > 0 ? <Gap height={below} columns={columns.length} /> : null}
        </tbody>
      </table>
    </section>
  )
}

type AnyColumn = Pick<
  TableColumn<typeof features, object>,
  'getCanSort' | 'getIsSorted' | 'toggleSorting'
>

function Header({ column, text }: { column: AnyColumn; text: string }) {
  const sorted = column.getIsSorted()
  const order = { asc: 'ascending', desc: 'descending' } as const
  return (
    <th scope="col" aria-sort={sorted ? order[sorted] : undefined}>
      {column.getCanSort() ? (
        <button
          type="button"
          className="table-sort"
          onClick={() => column.toggleSorting(sorted === 'asc')}
        >
          {text}
          <span aria-hidden="true">{sorted ? (sorted === 'asc' ? ' ↑' : ' ↓') : ''}</span>
        </button>
      ) : (
        text
      )}
    </th>
  )
}

/** In the place of rows that are out of sight. */
function Gap({ height, columns }: { height: number; columns: number }) {
  return (
    <tr>
      <td colSpan={columns} className="table-gap" style={{ height }} />
    </tr>
  )
}
