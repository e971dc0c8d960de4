/** Names by environments. A cell says which value it holds by a letter, which version, and how old it is. */
import { useDeferredValue, useEffect, useMemo, useState } from 'react'
import { Button as AriaButton } from 'react-aria-components'
import { Button } from '../../parts/button.tsx'
import { Checkbox } from '../../parts/fields/checkbox.tsx'
import { Select } from '../../parts/fields/select.tsx'
import { TextField } from '../../parts/fields/text_field.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { texts } from '../../texts/index.ts'
import {
  type Cell,
  daysSince,
  isOld,
  letterOf,
  type Matrix,
  type MatrixRow,
  route,
  type Show,
  shows,
  useGo,
} from './place.ts'

const words = texts.secrets
/** Milliseconds after which what was typed stands in the address. */
const TYPING_MS = 300
const showIds = Object.keys(shows) as Show[]

type Props = {
  matrix: Matrix
  selected: ReadonlySet<string>
  onSelect(keys: ReadonlySet<string>): void
}

export function MatrixTable({ matrix, selected, onSelect }: Props) {
  const search = route.useSearch()
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
  const columns = useColumns(matrix, selected, onSelect)
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
        <Button kind="quiet" onPress={() => onSelect(new Set(rows.map(({ key }) => key)))}>
          {words.selectShown}
        </Button>
        <span className="soft" role="status">
          {words.counted(rows.length, matrix.rows.length)}
        </span>
      </div>
      <Table
        label={words.matrix}
        columns={columns}
        rows={rows}
        idOf={keyOfRow}
        empty={<p className="soft">{words.noneShown}</p>}
      />
      <p className="soft small">{words.legend}</p>
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

function useColumns(
  { environments }: Matrix,
  selected: Props['selected'],
  onSelect: Props['onSelect'],
) {
  const { key: chosen, environment: where } = route.useSearch()
  const go = useGo()
  return useMemo((): Column<MatrixRow>[] => {
    const toggle = (key: string) => {
      const next = new Set(selected)
      if (!next.delete(key)) next.add(key)
      onSelect(next)
    }
    const name: Column<MatrixRow> = {
      id: 'key',
      header: words.name,
      isRowHeader: true,
      sortBy: keyOfRow,
      cell: ({ key }) => (
        <Checkbox
          name={words.select(key)}
          isSelected={selected.has(key)}
          onChange={() => toggle(key)}
        >
          <code>{key}</code>
        </Checkbox>
      ),
    }
    const byEnvironment = environments.map(
      (environment): Column<MatrixRow> => ({
        id: `in ${environment}`,
        header: environment,
        sortBy: ({ cells }) => cells[environment]?.updatedAt ?? '',
        cell: ({ key, cells }) => (
          <CellButton
            name={key}
            environment={environment}
            cell={cells[environment]}
            isChosen={key === chosen && environment === where}
            onPress={() => go({ key, environment, pane: undefined })}
          />
        ),
      }),
    )
    return [name, ...byEnvironment]
  }, [environments, selected, onSelect, chosen, where, go])
}

type CellProps = {
  name: string
  environment: string
  cell: Cell | undefined
  isChosen: boolean
  onPress(): void
}

function CellButton({ name, environment, cell, isChosen, onPress }: CellProps) {
  const chosen = isChosen ? ' cell-chosen' : ''
  if (!cell) {
    return (
      <AriaButton
        className={`cell cell-missing${chosen}`}
        aria-label={words.cellMissing(name, environment)}
        onPress={onPress}
      >
        {words.missing}
      </AriaButton>
    )
  }
  const days = daysSince(cell.updatedAt)
  return (
    <AriaButton
      className={`cell${cell.value === null ? ' cell-unreadable' : ''}${chosen}`}
      onPress={onPress}
    >
      <span className="unseen">{`${words.inEnvironment(name, environment)}: `}</span>
      {cell.value === null ? (
        `${words.unreadable} `
      ) : (
        <span className="cell-value">{letterOf(cell.value)}</span>
      )}
      <span className={isOld(cell) ? 'cell-old' : 'soft'}>
        {words.inShort(cell.version, days === 0 ? words.today : words.days(days))}
      </span>
    </AriaButton>
  )
}
