/** The layout of a grid in pixels. All rows have one height and all section headings another, so nothing is measured. */

export type GridItem<Row> =
  | { kind: 'row'; row: Row; index: number }
  | { kind: 'heading'; text: string }

export type Layout<Row> = {
  items: readonly GridItem<Row>[]
  /** Top of each item; the last entry is the total height. */
  tops: readonly number[]
  /** The item of each row. */
  places: readonly number[]
}

/** The visible part of a grid, in pixels. */
export type View = { top: number; height: number }

/** Rows on either side of those in view. */
const MORE_ROWS = 6

export const HEADING_HEIGHT = 30

/**
 * Keeps 10 px free at the right, less the width of a scrollbar that takes room. So columns stay in place when the
 * scrollbar appears, and the lines between rows reach the edge.
 */
export const SCROLLBAR_ROOM = 'pr-[max(0px,10px-(100cqw-100%))]'

/** `sectionOf` names the section of a row; consecutive rows of one section share a heading. */
export function layOutGrid<Row>(
  rows: readonly Row[],
  rowHeight: number,
  sectionOf?: (row: Row) => string,
): Layout<Row> {
  const items: GridItem<Row>[] = []
  const tops = [0]
  const places: number[] = []
  let section: string | undefined
  const add = (item: GridItem<Row>, height: number) => {
    items.push(item)
    tops.push((tops.at(-1) ?? 0) + height)
  }
  for (const [index, row] of rows.entries()) {
    const text = sectionOf?.(row)
    if (text !== undefined && text !== section) add({ kind: 'heading', text }, HEADING_HEIGHT)
    section = text
    places.push(items.length)
    add({ kind: 'row', row, index }, rowHeight)
  }
  return { items, tops, places }
}

/** The first item that ends below `offset`. */
export function itemAt(tops: readonly number[], offset: number): number {
  let low = 0
  let high = tops.length - 1
  while (low < high) {
    const middle = (low + high) >> 1
    if ((tops[middle + 1] ?? Number.POSITIVE_INFINITY) > offset) high = middle
    else low = middle + 1
  }
  return low
}

/** Items in view, with some more on either side. A list that became shorter than its view was scrolled is at its end. */
export function windowIn(
  tops: readonly number[],
  { top, height }: View,
  more = MORE_ROWS,
): { from: number; to: number } {
  const count = tops.length - 1
  const start = Math.min(top, Math.max(0, (tops.at(-1) ?? 0) - height))
  const from = Math.max(0, itemAt(tops, start) - more)
  const to = Math.min(count, itemAt(tops, start + height) + 1 + more)
  return { from, to: Math.max(from, to) }
}
