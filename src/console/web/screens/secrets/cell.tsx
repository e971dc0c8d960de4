/** A cell of the matrix: pressed it opens beside, by Enter, F2 or twice pressed it is typed into. */
import { type MouseEvent, useEffect, useRef } from 'react'
import { texts } from '../../texts/index.ts'
import { CellField, type CellProps } from './cell_field.tsx'
import { idOf } from './edits.ts'
import { type Cell, daysSince, isOld, letterOf, useGo } from './place.ts'

const words = texts.secrets
/** Milliseconds in which a second press may come. */
const TWICE_MS = 220

export function MatrixCell(props: CellProps) {
  const { name: key, environment, edits } = props
  const edit = edits?.open.get(idOf({ key, environment }))
  return edits && edit ? (
    <CellField {...props} edits={edits} edit={edit} />
  ) : (
    <CellButton {...props} />
  )
}

function CellButton({ name: key, environment, cell, isChosen, edits }: CellProps) {
  const go = useGo()
  const id = idOf({ key, environment })
  const button = useRef<HTMLButtonElement>(null)
  const waiting = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => {
    if (edits?.focus.current === id) {
      edits.focus.current = null
      button.current?.focus()
    }
    return () => clearTimeout(waiting.current)
  }, [edits, id])
  const open = () => go({ key, environment, pane: undefined })
  const begin = () => {
    clearTimeout(waiting.current)
    // The pane of the same cell has a field of its own.
    if (isChosen) go({ key: undefined })
    edits?.begin({ key, environment })
  }
  const press = ({ detail, nativeEvent }: MouseEvent) => {
    const mayComeTwice = Reflect.get(nativeEvent, 'pointerType') === 'mouse'
    if (!edits || !mayComeTwice) open()
    else if (detail > 1) begin()
    else waiting.current = setTimeout(open, TWICE_MS)
  }
  return (
    <button
      ref={button}
      type="button"
      data-cell={id}
      className={classOf(cell, isChosen)}
      aria-label={cell ? undefined : words.cellMissing(key, environment)}
      aria-keyshortcuts={edits ? 'Enter F2' : undefined}
      onClick={press}
      onKeyDown={(event) => {
        if (!edits || (event.key !== 'Enter' && event.key !== 'F2')) return
        event.preventDefault()
        begin()
      }}
    >
      <Shown name={key} environment={environment} cell={cell} />
    </button>
  )
}

function classOf(cell: Cell | undefined, isChosen: boolean): string {
  const state = cell ? (cell.value === null ? ' cell-unreadable' : '') : ' cell-missing'
  return `cell${state}${isChosen ? ' cell-chosen' : ''}`
}

function Shown({ name, environment, cell }: Pick<CellProps, 'name' | 'environment' | 'cell'>) {
  if (!cell) return words.missing
  const days = daysSince(cell.updatedAt)
  return (
    <>
      <span className="unseen">{`${words.inEnvironment(name, environment)}: `}</span>
      {cell.value === null ? (
        `${words.unreadable} `
      ) : (
        <span className="cell-value">{letterOf(cell.value)}</span>
      )}
      <span className={isOld(cell) ? 'cell-old' : 'soft'}>
        {words.inShort(cell.version, days === 0 ? words.today : words.days(days))}
      </span>
    </>
  )
}
