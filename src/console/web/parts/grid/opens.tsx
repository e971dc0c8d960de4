/** The last column of a log: a row opens. */
import { ChevronRight } from 'lucide-react'
import { Icon } from '../icon.tsx'
import type { GridColumn } from './types.ts'

export const opensColumn: GridColumn<unknown> = {
  id: 'open',
  header: '',
  width: '44px',
  cell: () => (
    <span className="flex justify-end text-ink-3">
      <Icon of={ChevronRight} />
    </span>
  ),
}
