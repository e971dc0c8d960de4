/**
 * Rows under fixed columns. Only rows in view are in the page, so 100,000 rows scroll like ten. The grid is one Tab
 * stop; arrow keys, J and K, Page Up and Down, Home and End move inside, and Enter opens a row.
 */
import { type CSSProperties, useMemo, useRef } from 'react'
import { GridHeader } from './header.tsx'
import { layOutGrid } from './layout.ts'
import { GridRow, type RowProps } from './row.tsx'
import { useSelectColumn } from './selection.tsx'
import { useSorting } from './sorting.ts'
import type { GridProps } from './types.ts'
import { useGridKeys } from './use_keys.ts'
import { usePhone } from './use_phone.ts'
import { useRowWindow } from './use_window.ts'

export type { GridColumn, GridSelection } from './types.ts'

const ROW_HEIGHT = 38
const COMPACT_ROW_HEIGHT = 34
const PHONE_ROW_HEIGHT = 56

export function DataGrid<Row extends object>(props: GridProps<Row>) {
  const { label, rows, idOf, sectionOf, empty, openId, onOpen, onJump, isCompact } = props
  const scroller = useRef<HTMLDivElement>(null)
  const isPhone = usePhone() && props.phone !== undefined
  const columns = useSelectColumn(props)
  const { sorted, sorting, sortBy } = useSorting(rows, columns)
  const wideHeight = isCompact ? COMPACT_ROW_HEIGHT : ROW_HEIGHT
  const rowHeight = isPhone ? PHONE_ROW_HEIGHT : wideHeight
  const layout = useMemo(
    () => layOutGrid(sorted, rowHeight, sorting ? undefined : sectionOf),
    [sorted, rowHeight, sorting, sectionOf],
  )
  const { from, to } = useRowWindow(scroller, layout, props)
  const onKeyDown = useGridKeys({ scroller, layout, rowHeight, onOpen, onJump })
  if (rows.length === 0 && empty !== undefined) return empty
  // On the grid, because a style on every row costs more.
  const style = { '--grid-columns': columns.map(({ width }) => width).join(' ') } as CSSProperties
  const shown: Omit<RowProps<Row>, 'item'> = {
    columns,
    idOf,
    openId,
    selected: props.selection?.selected,
    onOpen,
    isCompact,
    phone: isPhone ? props.phone : undefined,
  }
  return (
    <div className="flex min-h-0 flex-1 flex-col @container">
      {/* biome-ignore lint/a11y/useSemanticElements: a table element cannot leave out rows and keep its column widths. */}
      <div
        ref={scroller}
        role="grid"
        aria-label={label}
        aria-rowcount={rows.length + 1}
        aria-colcount={columns.length}
        className="min-h-0 flex-1 overflow-auto overscroll-contain [scrollbar-width:thin] [scroll-padding-top:32px]"
        style={style}
        onKeyDown={onKeyDown}
        tabIndex={-1}
      >
        <GridHeader columns={columns} sorting={sorting} sortBy={sortBy} isHidden={isPhone} />
        {/* biome-ignore lint/a11y/useSemanticElements: see above */}
        <div role="rowgroup" style={{ paddingTop: layout.tops[from], height: layout.tops.at(-1) }}>
          {layout.items.slice(from, to).map((item) => (
            <GridRow
              key={item.kind === 'row' ? idOf(item.row) : `section ${item.text}`}
              item={item}
              {...shown}
            />
          ))}
        </div>
      </div>
    </div>
  )
}
