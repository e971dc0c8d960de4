/** A first column of checkboxes; the one in the header selects all rows shown. */
import { memo, type ReactNode, useMemo } from 'react'
import { texts } from '../../texts/index.ts'
import { Checkbox, RowCheckbox } from '../fields/checkbox.tsx'
import type { GridColumn, GridProps } from './types.ts'

const words = texts.common.grid

type Props<Row> = Pick<GridProps<Row>, 'columns' | 'rows' | 'idOf' | 'selection'>

export function useSelectColumn<Row>({ columns, rows, idOf, selection }: Props<Row>) {
  const select = useMemo((): GridColumn<Row> | null => {
    if (!selection) return null
    const { selected, onChange, nameOf } = selection
    const isAll = rows.length > 0 && rows.every((row) => selected.has(idOf(row)))
    const toggle = (id: string) => {
      const next = new Set(selected)
      if (!next.delete(id)) next.add(id)
      onChange(next)
    }
    return {
      id: 'selected',
      width: '44px',
      header: (
        <Box>
          <Checkbox
            name={words.selectAll}
            isSelected={isAll}
            isIndeterminate={!isAll && selected.size > 0}
            onChange={(all) => onChange(new Set(all ? rows.map(idOf) : []))}
          />
        </Box>
      ),
      cell: (row) => (
        <RowBox
          id={idOf(row)}
          name={words.select(nameOf(row))}
          isSelected={selected.has(idOf(row))}
          toggle={toggle}
        />
      ),
    }
  }, [rows, idOf, selection])
  return useMemo(() => (select ? [select, ...columns] : columns), [select, columns])
}

type RowBoxProps = { id: string; name: string; isSelected: boolean; toggle(id: string): void }

const RowBox = memo(function RowBox({ id, toggle, ...box }: RowBoxProps) {
  return (
    <Box>
      <RowCheckbox {...box} onChange={() => toggle(id)} />
    </Box>
  )
})

/** Within the padding of the cell, which is wider than what is left of the column. */
function Box({ children }: { children: ReactNode }) {
  return <span className="-mr-2.5 flex">{children}</span>
}
