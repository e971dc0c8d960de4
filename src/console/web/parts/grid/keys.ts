/**
 * Keyboard of a grid (WAI-ARIA, grid pattern): the grid is one Tab stop, and arrow keys move between its controls. A
 * stop is a control in a cell, or the cell if it has none.
 */
const CONTROLS = 'button, a[href], input, textarea, select, [role="checkbox"]'

/** `row` is -1 for the column headers. */
export type Stop = { row: number; column: number; control: number }

export function stopsOfRow(rowElement: Element): HTMLElement[] {
  return [...rowElement.querySelectorAll<HTMLElement>('[data-column]')].flatMap(stopsOfCell)
}

function stopsOfCell(cell: HTMLElement): HTMLElement[] {
  const controls = [...cell.querySelectorAll<HTMLElement>(CONTROLS)].filter(
    (control) => !control.matches(':disabled'),
  )
  return controls.length > 0 ? controls : [cell]
}

export function rowElementOf(grid: Element, row: number): Element | null {
  return grid.querySelector(`[data-row="${row}"]`)
}

/** The stop that an element is, or is inside of. */
export function stopAt(element: Element): Stop | null {
  const cell = element.closest<HTMLElement>('[data-column]')
  const row = cell?.closest('[data-row]')
  if (!cell || !row) return null
  const control = Math.max(
    0,
    stopsOfCell(cell).findIndex((stop) => stop.contains(element)),
  )
  return {
    row: Number(row.getAttribute('data-row')),
    column: Number(cell.dataset.column),
    control,
  }
}

export function elementOf(grid: Element, { row, column, control }: Stop): HTMLElement | null {
  const cell = rowElementOf(grid, row)?.querySelector<HTMLElement>(`[data-column="${column}"]`)
  if (!cell) return null
  const stops = stopsOfCell(cell)
  return stops[Math.min(control, stops.length - 1)] ?? null
}

/** A header that a phone hides is no stop any more, but still has the index of one. */
const STOPS = `[data-column], [tabindex="0"], ${CONTROLS}`

/** Every control is out of the Tab order but one. */
export function keepOneTabStop(grid: HTMLElement, active: Stop): void {
  const first = grid.querySelector<HTMLElement>('[data-column]')
  const target = elementOf(grid, active) ?? (first && stopsOfCell(first)[0])
  for (const element of grid.querySelectorAll<HTMLElement>(STOPS)) {
    const wanted = element === target ? 0 : -1
    if (element.tabIndex !== wanted || !element.hasAttribute('tabindex')) element.tabIndex = wanted
  }
}

/** Rows that a key moves by, or null if the key does not move between rows. */
export function rowsMovedBy(key: string, pageRows: number): number | null {
  const moves: Record<string, number> = {
    ArrowDown: 1,
    ArrowUp: -1,
    j: 1,
    k: -1,
    PageDown: pageRows,
    PageUp: -pageRows,
  }
  return moves[key] ?? null
}

/** Keys that a field in a cell needs itself. */
export function isTyping(target: EventTarget): boolean {
  return target instanceof HTMLElement && target.matches('input:not([type="checkbox"]), textarea')
}
