/** Saves a typed value. The cell shows it immediately, and rolls back if the server refuses. */
import { queryKey, useCommand } from '../../queries.ts'
import { type Cell, CHANGED, type Matrix, type Project } from './place.ts'

/** Updates the cell before the server answers. */
export function useSave(place: Project) {
  return useCommand('secrets.save', {
    changes: CHANGED,
    optimistic: ({ key, environment, expectedVersion, isSetting }) => ({
      key: queryKey('secrets.matrix', place),
      update: (before: Matrix): Matrix => {
        const present = before.rows.find((row) => row.key === key)?.cells[environment]
        const cell: Cell = {
          policy: null,
          words: '',
          renewal: null,
          ...present,
          version: expectedVersion + 1,
          updatedAt: new Date().toISOString(),
          isSensitive: !isSetting,
          value: findNextNumber(before, key),
        }
        const isNew = !before.rows.some((row) => row.key === key)
        const rows = isNew ? [...before.rows, { key, cells: {} }] : before.rows
        return {
          ...before,
          rows: rows.map((row) =>
            row.key === key ? { key, cells: { ...row.cells, [environment]: cell } } : row,
          ),
        }
      },
    }),
  })
}

/** A number that no other value in the row has, until the values are compared. */
function findNextNumber({ rows }: Matrix, key: string): number {
  const cells = Object.values(rows.find((row) => row.key === key)?.cells ?? {})
  return Math.max(-1, ...cells.map(({ value }) => value ?? -1)) + 1
}
