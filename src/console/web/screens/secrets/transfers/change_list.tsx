/** Names that a transfer changes, of which each can be left out. */
import { useMemo } from 'react'
import type { Returned } from '../../../keys/messages.ts'
import { DataGrid, type GridColumn } from '../../../parts/grid/grid.tsx'
import { texts } from '../../../texts/index.ts'

const words = texts.secretSheets

type Preview = Returned<'transfers.preview'>
type Listed = Preview['rows'][number]
export type ChangeRow = Listed & { change: Exclude<Listed['change'], 'same'> }

type Props = {
  preview: Preview
  rows: readonly ChangeRow[]
  left: ReadonlySet<string>
  onLeave(left: ReadonlySet<string>): void
}

const keyOf = ({ key }: ChangeRow) => key

export function ChangeList({ preview, rows, left, onLeave }: Props) {
  const unchanged = preview.rows.length - rows.length
  const selection = useMemo(
    () => ({
      selected: new Set(rows.map(keyOf).filter((key) => !left.has(key))),
      onChange: (selected: ReadonlySet<string>) =>
        onLeave(new Set(rows.map(keyOf).filter((key) => !selected.has(key)))),
      nameOf: keyOf,
    }),
    [rows, left, onLeave],
  )
  return (
    <>
      {preview.repeated.length > 0 ? (
        <p className="text-amber">{words.repeated(preview.repeated)}</p>
      ) : null}
      <div className="-mx-5 flex min-h-60 flex-1 flex-col border-t border-line">
        <DataGrid
          label={words.changeList}
          columns={columns}
          rows={rows}
          idOf={keyOf}
          selection={selection}
          empty={<p className="p-5 text-ink-2">{words.nothing}</p>}
        />
      </div>
      {unchanged > 0 ? <p className="text-small text-ink-2">{words.unchanged(unchanged)}</p> : null}
    </>
  )
}

const columns: GridColumn<ChangeRow>[] = [
  {
    id: 'key',
    header: words.name,
    width: 'minmax(0, 1fr)',
    isRowHeader: true,
    cell: ({ key }) => (
      <span className="font-mono text-mono" title={key}>
        {key}
      </span>
    ),
  },
  {
    id: 'change',
    header: words.change,
    width: '150px',
    cell: ({ change, isSetting }) => (
      <span className="text-small text-ink-2">
        {words.changes[change]}
        {isSetting && change === 'new' ? ` · ${words.setting}` : ''}
      </span>
    ),
  },
]
