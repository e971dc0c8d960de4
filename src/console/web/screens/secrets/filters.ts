/** The filter chips above the matrix. */
import { daysSince, type MatrixRow } from './place.ts'

/** `unused` has the names that no call used in 30 days; null while that is not known. */
type Context = { environments: number; unused: ReadonlySet<string> | null }
type Filter = (row: MatrixRow, context: Context) => boolean

const cellsOf = ({ cells }: MatrixRow) => Object.values(cells)

export const filters = {
  all: () => true,
  missing: (row, { environments }) => cellsOf(row).length < environments,
  different: (row) => new Set(cellsOf(row).map(({ value }) => value)).size > 1,
  approval: (row) => cellsOf(row).some(({ policy }) => policy?.approval !== undefined),
  renewing: (row) => cellsOf(row).some(({ renewal }) => renewal !== null),
  reconnect: (row) => cellsOf(row).some(({ renewal }) => renewal?.state === 'reconnect'),
  unreadable: (row) => cellsOf(row).some(({ value }) => value === null),
  unused: ({ key }, { unused }) => unused?.has(key) ?? false,
} satisfies Record<string, Filter>

export type FilterId = keyof typeof filters

export const filterIds = Object.keys(filters) as FilterId[]

const NEW_DAYS = 30

/** A secret that was added less than 30 days ago can't be unused for as long. */
export function isNew(row: MatrixRow): boolean {
  return cellsOf(row).every(
    ({ version, updatedAt }) => version === 1 && daysSince(updatedAt) < NEW_DAYS,
  )
}

/** The number of rows for each filter. */
export function countFilters(rows: readonly MatrixRow[], context: Context) {
  const counts = Object.fromEntries(filterIds.map((id) => [id, 0])) as Record<FilterId, number>
  for (const row of rows) {
    for (const id of filterIds) if (filters[id](row, context)) counts[id] += 1
  }
  return counts
}

export function filterRows(
  rows: readonly MatrixRow[],
  context: Context,
  { id, find }: { id: FilterId; find: string },
): MatrixRow[] {
  const sought = find.toLowerCase()
  return rows.filter((row) => filters[id](row, context) && row.key.toLowerCase().includes(sought))
}
