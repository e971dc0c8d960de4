/**
 * The field in a cell: Enter saves, Tab saves and moves on, Escape cancels. What is typed is masked, and the stored
 * value comes in only on request. Values with several lines go to the inspector.
 */
import { Eye } from 'lucide-react'
import {
  type ClipboardEvent,
  type KeyboardEvent,
  type RefObject,
  useCallback,
  useEffect,
  useId,
  useRef,
  useState,
} from 'react'
import { ask } from '../../keys/ask.ts'
import { IconButton } from '../../parts/icon_button.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { useHiding } from '../../parts/show/secret_value.tsx'
import { texts } from '../../texts/index.ts'
import { type At, atOf, type Edit, type Edits, idOf } from './edits.ts'
import type { MatrixRow } from './place.ts'

const words = texts.matrix

export type CellProps = {
  row: MatrixRow
  environment: string
  environments: readonly string[]
  isChosen: boolean
  /** Null if the person may only read. */
  edits: Edits | null
}

type Props = CellProps & { edits: Edits; edit: Edit }

export function CellField({ row, environment, edits, edit }: Props) {
  const at = { key: row.key, environment }
  const help = useId()
  const field = useRef<HTMLInputElement>(null)
  const { shown, show } = useShown(field, edit)
  const { reveal, onKeyDown } = useFieldActions({ row, environment, edits, edit }, { shown, show })
  return (
    <div className="relative -mx-2 w-[calc(100%+16px)]" data-cell={idOf(at)} data-editing>
      <input
        ref={field}
        className={`h-7 w-full rounded-control border border-accent bg-surface px-2 font-mono text-mono outline-none inset-ring inset-ring-accent aria-invalid:border-red aria-invalid:inset-ring-red ${shown === null ? 'pr-8 [-webkit-text-security:disc]' : ''}`}
        aria-label={words.newValueOf(row.key, environment)}
        aria-describedby={help}
        aria-invalid={edit.error !== null}
        autoComplete="off"
        autoCapitalize="off"
        spellCheck="false"
        onInput={({ currentTarget }) => {
          edit.text = currentTarget.value
        }}
        onPaste={(event) => {
          const text = linesIn(event)
          if (text !== null) edits.toPane(at, { text, stored: '' })
        }}
        onBlur={({ relatedTarget }) => {
          const isWithin = relatedTarget?.closest('[data-cell]')?.contains(field.current)
          if (!isWithin && edit.text === '' && edit.error === null) edits.put(at, null)
        }}
        onKeyDown={onKeyDown}
      />
      {row.cells[environment] && shown === null ? (
        <span className="absolute inset-y-0 right-0.5 flex items-center">
          <IconButton
            icon={Eye}
            label={words.showIn(row.key, environment)}
            size="small"
            onPress={reveal}
          />
        </span>
      ) : null}
      <Hint id={help} error={edit.error} />
    </div>
  )
}

/** The actions of the field's keys and button. */
function useFieldActions(
  { row, environment, edits, edit }: Pick<Props, 'row' | 'environment' | 'edits' | 'edit'>,
  { shown, show }: ReturnType<typeof useShown>,
) {
  const at = { key: row.key, environment }
  const cell = row.cells[environment]
  const store = (thenAt?: At) => {
    if (edit.text === '' || edit.text === shown) edits.put(at, null)
    else void edits.store(at, cell, edit)
    if (thenAt) edits.begin(thenAt)
    else edits.focus.current = idOf(at)
  }
  const reveal = async () => {
    try {
      const value = await ask('secrets.reveal', { ...edits.place, ...at })
      if (value.includes('\n')) edits.toPane(at, { text: value, stored: value })
      else show(value)
    } catch (error) {
      edits.put(at, { ...edit, takesFocus: true, error })
    }
  }
  const acts = new Map<string, (event: KeyboardEvent) => unknown>([
    ['Enter', () => store()],
    ['Escape', () => edits.end(at)],
    [
      'Tab',
      ({ currentTarget, shiftKey }) => store(findCellBeside(currentTarget, shiftKey ? -1 : 1)),
    ],
    ['F2', () => cell && reveal()],
  ])
  const onKeyDown = (event: KeyboardEvent) => {
    const act = acts.get(event.key)
    if (!act || event.nativeEvent.isComposing) return
    event.preventDefault()
    act(event)
  }
  return { reveal, onKeyDown }
}

/** Below the field and over the next rows, so that nothing moves. */
function Hint({ id, error }: { id: string; error: unknown }) {
  return (
    <div className="absolute top-full right-0 z-10 mt-1 flex w-70 flex-col gap-2 rounded-control bg-surface p-2 whitespace-normal shadow-pop">
      <p id={id} className="text-small text-ink-2">
        {words.fieldHelp}
      </p>
      {error ? <FailureNote error={error} /> : null}
    </div>
  )
}

/** A pasted text that would lose its line breaks in this field, and does not get into it. */
function linesIn(event: ClipboardEvent): string | null {
  const text = event.clipboardData.getData('text').replace(/\n$/, '')
  if (!text.includes('\n')) return null
  event.preventDefault()
  return text
}

/** Writes the text of an edit to its field. A stored value that was shown is masked again after a while. */
function useShown(field: RefObject<HTMLInputElement | null>, edit: Edit) {
  const [shown, show] = useState<string | null>(null)
  const write = useCallback(
    (text: string) => {
      edit.text = text
      if (field.current) field.current.value = text
    },
    [field, edit],
  )
  useEffect(() => {
    write(edit.text)
    if (edit.takesFocus) field.current?.focus()
    edit.takesFocus = false
  }, [field, edit, write])
  useEffect(() => {
    if (shown === null) return
    write(shown)
    field.current?.focus()
  }, [field, shown, write])
  const cover = useCallback(() => {
    if (edit.text === shown) write('')
    show(null)
  }, [edit, shown, write])
  useHiding(shown !== null, cover)
  return { shown, show }
}

/** The cell before or after, in reading order. */
function findCellBeside(field: Element, step: 1 | -1): At | undefined {
  const cells = [...(field.closest('[role="grid"]')?.querySelectorAll('[data-cell]') ?? [])]
  const own = cells.findIndex((cell) => cell.contains(field))
  const found = cells[own + step]?.getAttribute('data-cell')
  return found ? atOf(found) : undefined
}
