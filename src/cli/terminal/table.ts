/** Tables for people: as wide as the terminal, measured in columns per character. */

import { printable } from '../../core/printable.ts'
import { formatRelativeTime } from './moments.ts'

export type Row = Record<string, unknown>

/**
 * A column by the name of its field, or with its properties. A field named `…_at` is a time: relative on a terminal, else
 * unchanged.
 */
export type Column =
  | string
  | {
      field: string
      /** In place of the field's name. */
      title?: string
      /** Never cut, because people copy it. */
      whole?: true
      /** Left out where the line would not fit, the last one first. */
      optional?: true
    }

/** For commands that take a name as well; it is in --json and wherever there is room. */
export const ID: Column = { field: 'id', whole: true, optional: true }

export type Screen = {
  /** Columns of the terminal; infinite without a terminal. */
  width: number
  bold(text: string): string
  /** The reference time for relative times; `null` prints times unchanged. */
  now: Date | null
}

type Laid = { title: string; cells: string[]; width: number; whole: boolean; optional: boolean }

const GAP = 2
const NARROWEST = 8

export function layOut(
  rows: readonly Row[],
  columns: readonly Column[],
  { width, bold, now }: Screen,
): string[] {
  if (rows.length === 0) return ['(none)']
  const laid = columns.map((column) => lay(rows, column, now))
  const fitted = fit(laid, width)
  const line = (texts: readonly string[]) =>
    texts
      .map((text, index) => padText(text, fitted[index]?.width ?? 0))
      .join(' '.repeat(GAP))
      .trimEnd()
  return [
    bold(line(fitted.map(({ title }) => title))),
    ...rows.map((_, row) => line(fitted.map(({ cells }) => cells[row] ?? ''))),
  ]
}

function lay(rows: readonly Row[], column: Column, now: Date | null): Laid {
  const { field, title, whole, optional } =
    typeof column === 'string' ? { field: column } : { title: undefined, ...column }
  const heading = (title ?? field.replace(/_at$/, '')).replaceAll('_', ' ').toUpperCase()
  const cells = rows.map((row) => cellOf(field, row[field], now))
  return {
    title: heading,
    cells,
    width: Math.max(...[heading, ...cells].map((text) => Bun.stringWidth(text))),
    whole: whole ?? false,
    optional: optional ?? false,
  }
}

function cellOf(field: string, value: unknown, now: Date | null): string {
  const isMoment = /(^|_)at$/.test(field) && now !== null
  return isMoment && value ? formatRelativeTime(value, now) : cell(value)
}

/** One value as a person reads it. */
export function cell(value: unknown): string {
  if (value === null || value === undefined) return '-'
  if (Array.isArray(value)) return value.map(cell).join(', ')
  if (value instanceof Date) return value.toISOString()
  return printable(typeof value === 'object' ? JSON.stringify(value) : String(value))
}

/** Drops the last column if a long name leaves no room even for narrow columns. */
function fit(columns: readonly Laid[], available: number): Laid[] {
  const fitted = narrowColumns(dropOptionalColumns(columns, available), available)
  const last = columns.findLastIndex(({ whole }) => !whole)
  if (total(fitted) <= available || last < 1) return fitted
  return fit(columns.toSpliced(last, 1), available)
}

/** Without the optional columns that do not fit. */
function dropOptionalColumns(columns: readonly Laid[], available: number): Laid[] {
  const left = [...columns]
  while (total(left) > available) {
    const last = left.findLastIndex(({ optional }) => optional)
    if (last === -1) break
    left.splice(last, 1)
  }
  return left
}

/** Takes from the widest column that may be cut until the line fits. */
function narrowColumns(columns: readonly Laid[], available: number): Laid[] {
  const left = columns.map((column) => ({ ...column }))
  while (total(left) > available) {
    const [widest] = left
      .filter(({ whole, width }) => !whole && width > NARROWEST)
      .sort((one, other) => other.width - one.width)
    if (!widest) break
    widest.width -= 1
  }
  return left
}

function total(columns: readonly Laid[]): number {
  return columns.reduce((sum, { width }) => sum + width + GAP, -GAP)
}

/** Cut between characters as people see them, never inside of one. */
function padText(text: string, width: number): string {
  let shown = text
  if (Bun.stringWidth(text) > width) {
    shown = ''
    for (const { segment } of new Intl.Segmenter().segment(text)) {
      if (Bun.stringWidth(shown + segment) >= width) break
      shown += segment
    }
    shown += '…'
  }
  return shown + ' '.repeat(Math.max(0, width - Bun.stringWidth(shown)))
}
