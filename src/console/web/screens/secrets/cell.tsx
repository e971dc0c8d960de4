/** A cell of the matrix. A press or Enter opens it in the inspector; E, F2 or a double click edits it in place. */
import { Equal, Plus, RefreshCw } from 'lucide-react'
import { memo, type ReactNode, useEffect, useRef } from 'react'
import { Icon } from '../../parts/icon.tsx'
import { Ago } from '../../parts/show/ago.tsx'
import { momentOf } from '../../parts/show/moments.ts'
import { Status } from '../../parts/show/status.tsx'
import { texts } from '../../texts/index.ts'
import { CellField, type CellProps } from './cell_field.tsx'
import { idOf } from './edits.ts'
import { type Cell, type MatrixRow, useGo } from './place.ts'

const words = texts.matrix

/** Only cells that differ render again: a press in one changes the columns of all. */
export const MatrixCell = memo(function MatrixCell(props: CellProps) {
  const { edits } = props
  const edit = editOf(props)
  return edits && edit ? (
    <CellField {...props} edits={edits} edit={edit} />
  ) : (
    <CellButton {...props} />
  )
}, isSame)

function editOf({ row, environment, edits }: CellProps) {
  return edits?.open.get(idOf({ key: row.key, environment }))
}

function isSame(before: CellProps, after: CellProps): boolean {
  return (
    before.row === after.row &&
    before.environment === after.environment &&
    before.environments === after.environments &&
    before.isChosen === after.isChosen &&
    before.edits?.begin === after.edits?.begin &&
    before.edits?.store === after.edits?.store &&
    editOf(before) === editOf(after)
  )
}

function CellButton({ row, environment, environments, isChosen, edits }: CellProps) {
  const go = useGo()
  const { key } = row
  const id = idOf({ key, environment })
  const button = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    if (edits?.focus.current !== id) return
    edits.focus.current = null
    button.current?.focus()
  }, [edits, id])
  const begin = () => {
    // The inspector of the same cell has a field for the value.
    if (isChosen) go({ key: undefined })
    edits?.begin({ key, environment })
  }
  const isMissing = row.cells[environment] === undefined
  return (
    <button
      ref={button}
      type="button"
      data-cell={id}
      aria-current={isChosen ? 'true' : undefined}
      aria-keyshortcuts={edits ? 'E F2 C' : 'C'}
      className="-mx-2 flex h-7 w-[calc(100%+16px)] min-w-0 items-center gap-[7px] rounded-control px-2 -outline-offset-2 hover:bg-surface-2 aria-current:inset-ring-[1.5px] aria-current:inset-ring-accent"
      onClick={() => (isMissing && edits ? begin() : go({ key, environment, pane: undefined }))}
      onDoubleClick={edits && !isMissing ? begin : undefined}
      onKeyDown={(event) => {
        if (!edits || event.key !== 'F2') return
        event.preventDefault()
        begin()
      }}
    >
      <span className="sr-only">{`${words.cell(key, environment)}: `}</span>
      <CellText {...{ row, environment, environments }} canAdd={edits !== null} />
    </button>
  )
}

type Shown = {
  row: MatrixRow
  environment: string
  environments: readonly string[]
  canAdd: boolean
}

function CellText({ row, environment, environments, canAdd }: Shown) {
  const cell = row.cells[environment]
  if (!cell) return <MissingTag canAdd={canAdd} />
  if (cell.value === null) return <span className="text-small text-red">{words.unreadable}</span>
  if (cell.renewal) return <RenewalText cell={cell} renewal={cell.renewal} />
  const same = environmentWithSame(row, environment, environments)
  if (same !== undefined) {
    return (
      <span className="inline-flex min-w-0 items-center gap-[5px] text-small text-ink-3">
        <Icon of={Equal} size={13} />
        <span className="truncate">{words.sameAs(same)}</span>
      </span>
    )
  }
  return (
    <>
      <Masked />
      <Version cell={cell} />
    </>
  )
}

type RenewalProps = { cell: Cell; renewal: NonNullable<Cell['renewal']> }

/** The provider issues what calls use, so the value is less telling than its renewal. */
function RenewalText({ cell, renewal: { state, until } }: RenewalProps) {
  if (state === 'reconnect' || state === 'retrying') {
    return (
      <Status tone="amber" icon={RefreshCw}>
        {words.renewal[state]}
      </Status>
    )
  }
  const title =
    state === 'valid' ? words.renewal.valid(momentOf(until ?? '')) : words.renewal[state]
  return (
    <span
      title={title}
      className="inline-flex min-w-0 items-center gap-[7px] text-small text-ink-3"
    >
      <Icon of={RefreshCw} size={13} />
      <span className="truncate">{words.renews}</span>
      <Version cell={cell} />
    </span>
  )
}

function Version({ cell }: { cell: Cell }): ReactNode {
  return (
    <small className="truncate text-small text-ink-3">
      {words.version(cell.version)} · <Ago at={cell.updatedAt} short />
    </small>
  )
}

export function Masked() {
  return (
    <span aria-hidden="true" className="text-caption tracking-[1.5px] text-ink-2">
      {words.masked}
    </span>
  )
}

/** Drawn as an action only for those who can add it. */
export function MissingTag({ canAdd }: { canAdd: boolean }) {
  if (!canAdd) return <span className="text-small text-amber">{words.missing}</span>
  return (
    <span className="inline-flex h-[22px] items-center gap-[5px] rounded-[6px] border border-dashed border-amber-solid px-2 text-small font-medium text-amber">
      <Icon of={Plus} size={12} />
      {words.missing}
    </span>
  )
}

/** The first environment before this one that has the same value. */
export function environmentWithSame(
  { cells }: MatrixRow,
  environment: string,
  environments: readonly string[],
): string | undefined {
  const value = cells[environment]?.value ?? null
  if (value === null) return undefined
  const before = environments.slice(0, environments.indexOf(environment))
  return before.find((name) => cells[name]?.value === value)
}
