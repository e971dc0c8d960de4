/** A row of a grid, or the heading of a section. */
import type { MouseEvent, ReactNode } from 'react'
import { type GridItem, SCROLLBAR_ROOM } from './layout.ts'
import type { GridColumn } from './types.ts'

export type RowProps<Row> = {
  item: GridItem<Row>
  columns: readonly GridColumn<Row>[]
  idOf(row: Row): string
  openId: string | undefined
  /** Rows with a ticked box. */
  selected: ReadonlySet<string> | undefined
  onOpen: ((row: Row) => void) | undefined
  phone: ((row: Row) => ReactNode) | undefined
  isCompact: boolean | undefined
}

export function GridRow<Row>({
  item,
  columns,
  idOf,
  openId,
  selected,
  onOpen,
  phone,
  isCompact,
}: RowProps<Row>) {
  if (item.kind === 'heading') return <Heading text={item.text} columns={columns.length} />
  const { row, index } = item
  const isOpen = openId !== undefined && openId === idOf(row)
  const press = ({ target, currentTarget }: MouseEvent) => {
    const control = (target as Element).closest(
      'button, a, input, textarea, label, [role="checkbox"]',
    )
    if (!control || !currentTarget.contains(control)) onOpen?.(row)
  }
  const wideHeight = isCompact ? 'h-[34px]' : 'h-[38px]'
  const size = phone ? 'h-14 px-4' : `${wideHeight} ${SCROLLBAR_ROOM}`
  const tone =
    isOpen || selected?.has(idOf(row))
      ? 'bg-accent-soft forced-colors:outline forced-colors:-outline-offset-1'
      : onOpen
        ? 'hover:bg-hover'
        : ''
  return (
    // biome-ignore lint/a11y/useSemanticElements: see grid.tsx
    // biome-ignore lint/a11y/useKeyWithClickEvents: the grid handles Enter.
    <div
      role="row"
      data-row={index}
      aria-rowindex={index + 2}
      aria-selected={openId === undefined ? undefined : isOpen}
      className={`grid min-w-fit ${phone ? 'grid-cols-[minmax(0,1fr)]' : 'grid-cols-(--grid-columns)'} items-center border-b border-line ${size} ${tone} ${onOpen ? 'cursor-default' : ''}`}
      onClick={press}
      tabIndex={-1}
    >
      {phone ? (
        // biome-ignore lint/a11y/useSemanticElements: see grid.tsx
        // biome-ignore lint/a11y/useFocusableInteractive: the grid makes one stop focusable.
        <div role="gridcell" data-column={0} className="min-w-0">
          {phone(row)}
        </div>
      ) : (
        columns.map((column, at) => (
          <div
            key={column.id}
            role={column.isRowHeader ? 'rowheader' : 'gridcell'}
            data-column={at}
            className={`truncate px-2.5 has-data-editing:overflow-visible ${at === 0 ? 'pl-5 phone:pl-4' : ''}`}
          >
            {column.cell(row)}
          </div>
        ))
      )}
    </div>
  )
}

function Heading({ text, columns }: { text: string; columns: number }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: see grid.tsx
    // biome-ignore lint/a11y/useFocusableInteractive: it is read with its rows, and has nothing to do.
    <div
      role="row"
      className="flex h-[30px] items-center border-b border-line bg-canvas px-5 text-small font-medium text-ink-2 phone:px-4"
    >
      {/* biome-ignore lint/a11y/useSemanticElements: see grid.tsx */}
      {/* biome-ignore lint/a11y/useFocusableInteractive: see above */}
      <span role="gridcell" aria-colspan={columns}>
        {text}
      </span>
    </div>
  )
}
