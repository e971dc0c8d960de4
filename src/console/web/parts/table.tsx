/**
 * Rows under columns, sorted by a press on a header. Only what is in sight is in the page, so that 100,000 rows scroll
 * like ten; a reader of the screen hears how many there are.
 */
import {
  createSortedRowModel,
  rowSortingFeature,
  type Column as SortedColumn,
  sortFn_alphanumeric,
  tableFeatures,
  useTable,
} from '@tanstack/react-table'
import { useVirtualizer } from '@tanstack/react-virtual'
import { Fragment, type KeyboardEvent, type ReactNode, useMemo, useRef } from 'react'

export type TableColumn<Row> = {
  id: string
  header: string
  cell(row: Row): ReactNode
  /** What the column is sorted by; it cannot be sorted without. */
  sortBy?(row: Row): string | number
  /** It names the row. */
  isRowHeader?: boolean
  /** On one line, whatever the other columns need. */
  isShort?: boolean
}

type Props<Row> = {
  /** What is listed, for who does not see it. */
  label: string
  columns: readonly TableColumn<Row>[]
  rows: readonly Row[]
  idOf(row: Row): string
  /** Shown in the place of no rows. */
  empty?: ReactNode
  /** Called when the last rows come into sight: the next page is read. */
  onEnd?(): void
  /** Called for the End key where the last rows are far from being read. */
  onJump?: (() => void) | undefined
  /** On a phone each row is a card, with the column's name beside each cell. */
  isCards?: boolean
}

const ROW_HEIGHT = 40
const MORE_ROWS = 12

const features = tableFeatures({
  rowSortingFeature,
  sortedRowModel: createSortedRowModel(),
  sortFns: { alphanumeric: sortFn_alphanumeric },
})

export function DataTable<Row extends object>(props: Props<Row>) {
  const { label, columns, rows, empty, onEnd, onJump, isCards = false } = props
  const { table, shown } = useSorted(props)
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
  const headers = table.getHeaderGroups()[0]?.headers ?? []
  const jump = (event: KeyboardEvent) => {
    if (event.key !== 'End' || !onJump) return
    event.preventDefault()
    onJump()
  }
  // What scrolls must be reachable by keys.
  const scrolling = { ref: scroller, onKeyDown: jump, tabIndex: 0 }
  return (
    <section className="table-scroller" aria-label={label} {...scrolling}>
      <table
        className={isCards ? 'table table-cards' : 'table'}
        aria-label={label}
        aria-rowcount={shown.length + 1}
      >
        <thead>
          <tr>
            {headers.map(({ column }, at) => (
              <Header key={column.id} column={column} text={columns[at]?.header ?? ''} />
            ))}
          </tr>
        </thead>
        <tbody>
          {above > 0 ? <Gap height={above} columns={columns.length} /> : null}
          {seen.map(({ index, key }) => {
            const row = shown[index]
            const place = { ref: virtual.measureElement, 'data-index': index }
            return row ? (
              <tr key={key} {...place} aria-rowindex={index + 2}>
                {columns.map((column) => (
                  <Cell key={column.id} column={column} row={row.original} />
                ))}
              </tr>
            ) : null
          })}
          {below > 0 ? <Gap height={below} columns={columns.length} /> : null}
        </tbody>
      </table>
    </section>
  )
}

function useSorted<Row extends object>({ columns, rows, idOf }: Props<Row>) {
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
  return { table, shown: table.getRowModel().rows }
}

type AnyColumn = Pick<
  SortedColumn<typeof features, object>,
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

function Cell<Row>({ column, row }: { column: TableColumn<Row>; row: Row }) {
  const { header, cell, isRowHeader, isShort } = column
  const about = { 'data-name': header, className: isShort ? 'table-short' : undefined }
  return isRowHeader ? (
    <th scope="row" {...about}>
      <Breakable content={cell(row)} />
    </th>
  ) : (
    <td {...about}>
      <Breakable content={cell(row)} />
    </td>
  )
}

/** A text that may break between the parts of an address or a name, and not within a word. */
function Breakable({ content }: { content: ReactNode }) {
  if (typeof content !== 'string') return content
  return content.split(/(?<=[/.,:;@_=&?-])/).map((part, at) => (
    // The parts of one text have no other identity.
    // biome-ignore lint/suspicious/noArrayIndexKey: see above
    <Fragment key={at}>
      {at > 0 ? <wbr /> : null}
      {part}
    </Fragment>
  ))
}

/** In the place of rows that are out of sight. */
function Gap({ height, columns }: { height: number; columns: number }) {
  return (
    <tr>
      <td colSpan={columns} className="table-gap" style={{ height }} />
    </tr>
  )
}
