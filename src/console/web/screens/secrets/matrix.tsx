/** Names by environments. A cell says which value it holds by a letter, which version, and how old it is. */
import { useDeferredValue, useEffect, useMemo, useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { Checkbox } from '../../parts/fields/checkbox.tsx'
import { Select } from '../../parts/fields/select.tsx'
import { TextField } from '../../parts/fields/text_field.tsx'
import { DataTable, type TableColumn } from '../../parts/table.tsx'
import { texts } from '../../texts/index.ts'
import { MatrixCell } from './cell.tsx'
import { type Edits, useEdits } from './edits.ts'
import {
  type Matrix,
  type MatrixRow,
  type Project,
  type Show,
  secretsRoute,
  shows,
  useGo,
  useMayHere,
} from './place.ts'

const words = texts.secrets
/** Milliseconds after which what was typed stands in the address. */
const TYPING_MS = 300
const showIds = Object.keys(shows) as Show[]

type Props = {
  place: Project
  matrix: Matrix
  selected: ReadonlySet<string>
  onSelect(keys: ReadonlySet<string>): void
}

export function MatrixTable({ place, matrix, selected, onSelect }: Props) {
  const search = secretsRoute.useSearch()
  const go = useGo()
  const show = showIds.find((id) => id === search.show) ?? 'all'
  const [find, setFind] = useFind(search.find ?? '')
  const sought = useDeferredValue(find).toLowerCase()
  const rows = useMemo(() => {
    const all = matrix.environments.length
    const isShown = (row: MatrixRow) =>
      shows[show](row, all) && row.key.toLowerCase().includes(sought)
    return matrix.rows.filter(isShown)
  }, [matrix, show, sought])
  const writes = useMayHere('secret.write')
  const edits = useEdits(place, matrix)
  const columns = useColumns({ matrix, selected, onSelect, edits: writes ? edits : null })
  return (
    <>
      <div className="row">
        <TextField label={words.find} value={find} onChange={setFind} />
        <Select
          label={words.show}
          options={showIds.map((id) => ({ id, label: words.shown[id] }))}
          value={show}
          onChange={(id) => go({ show: id === 'all' ? undefined : id }, true)}
        />
        {writes ? (
          <Button kind="ghost" onPress={() => onSelect(new Set(rows.map(({ key }) => key)))}>
            {words.selectShown}
          </Button>
        ) : null}
        <span className="soft" role="status">
          {words.counted(rows.length, matrix.rows.length)}
        </span>
      </div>
      <DataTable
        label={words.matrix}
        columns={columns}
        rows={rows}
        idOf={keyOfRow}
        empty={<p className="soft">{words.noneShown}</p>}
      />
      <p className="soft small">
        {writes ? `${words.legend} ${words.legendWriting}` : words.legend}
      </p>
    </>
  )
}

const keyOfRow = ({ key }: MatrixRow) => key

/** What is typed is shown at once, and stands in the address a moment later. */
function useFind(start: string) {
  const [find, setFind] = useState(start)
  const go = useGo()
  useEffect(() => {
    if (find === start) return
    const write = setTimeout(() => go({ find: find === '' ? undefined : find }, true), TYPING_MS)
    return () => clearTimeout(write)
  }, [find, start, go])
  return [find, setFind] as const
}

type ColumnProps = Omit<Props, 'place'> & { edits: Edits | null }

function useColumns({ matrix: { environments }, selected, onSelect, edits }: ColumnProps) {
  const { key: chosen, environment: where } = secretsRoute.useSearch()
  return useMemo((): TableColumn<MatrixRow>[] => {
    const toggle = (key: string) => {
      const next = new Set(selected)
      if (!next.delete(key)) next.add(key)
      onSelect(next)
    }
    const name: TableColumn<MatrixRow> = {
      id: 'key',
      header: words.name,
      isRowHeader: true,
      sortBy: keyOfRow,
      cell: ({ key }) =>
        edits ? (
          <Checkbox
            name={words.select(key)}
            isSelected={selected.has(key)}
            onChange={() => toggle(key)}
          >
            <code>{key}</code>
          </Checkbox>
        ) : (
          <code>{key}</code>
        ),
    }
    const byEnvironment = environments.map(
      (environment): TableColumn<MatrixRow> => ({
        id: `in ${environment}`,
        header: environment,
        sortBy: ({ cells }) => cells[environment]?.updatedAt ?? '',
        cell: ({ key, cells }) => (
          <MatrixCell
            name={key}
            environment={environment}
            cell={cells[environment]}
            isChosen={key === chosen && environment === where}
            edits={edits}
          />
        ),
      }),
    )
    return [name, ...byEnvironment]
  }, [environments, selected, onSelect, chosen, where, edits])
}
