/** The columns, rows and callbacks of a grid. */
import type { ReactNode } from 'react'

export type GridColumn<Row> = {
  id: string
  header: ReactNode
  /** The width as a CSS grid track, such as `140px` or `minmax(0, 1fr)`. */
  width: string
  cell(row: Row): ReactNode
  /** Without it, the column cannot be sorted. */
  sortBy?(row: Row): string | number
  /** Names the row to screen readers. */
  isRowHeader?: boolean
}

export type GridSelection<Row> = {
  selected: ReadonlySet<string>
  onChange(selected: ReadonlySet<string>): void
  nameOf(row: Row): string
}

export type GridProps<Row> = {
  label: string
  columns: readonly GridColumn<Row>[]
  rows: readonly Row[]
  idOf(row: Row): string
  /** The row that the inspector shows. */
  openId?: string | undefined
  /** The row that is in view at first. */
  startId?: string | undefined
  /** A press on a row outside of its controls, or Enter. */
  onOpen?: ((row: Row) => void) | undefined
  /** Consecutive rows of one section share a heading. */
  sectionOf?: (row: Row) => string
  /** Lower rows, for a log. */
  isCompact?: boolean
  selection?: GridSelection<Row> | undefined
  /** The row on a phone, instead of its cells. */
  phone?: (row: Row) => ReactNode
  /** Shown instead of no rows. */
  empty?: ReactNode
  /** The last rows come into view: read the next page. */
  onEnd?: (() => void) | undefined
  /** The End key, if the last rows are not read yet. */
  onJump?: (() => void) | undefined
}
