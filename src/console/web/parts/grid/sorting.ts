/** Sorting by one column. Rows keep the order they came in until someone sorts. */
import { useMemo, useState } from 'react'
import type { GridColumn } from './types.ts'

export type Sorting = { id: string; order: 'ascending' | 'descending' }

const collator = new Intl.Collator('en', { numeric: true })

export function useSorting<Row>(rows: readonly Row[], columns: readonly GridColumn<Row>[]) {
  const [sorting, setSorting] = useState<Sorting | null>(null)
  const key = columns.find(({ id }) => id === sorting?.id)?.sortBy
  const sorted = useMemo(() => {
    if (!key || !sorting) return rows
    const sign = sorting.order === 'ascending' ? 1 : -1
    return [...rows].sort((one, other) => sign * compare(key(one), key(other)))
  }, [rows, key, sorting])
  const sortBy = (id: string) =>
    setSorting((before) =>
      before?.id === id && before.order === 'ascending'
        ? { id, order: 'descending' }
        : { id, order: 'ascending' },
    )
  return { sorted, sorting, sortBy }
}

function compare(one: string | number, other: string | number): number {
  if (typeof one === 'number' && typeof other === 'number') return one - other
  return collator.compare(String(one), String(other))
}
