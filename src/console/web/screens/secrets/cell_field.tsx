/**
 * The field in a cell: Enter stores, Tab stores and goes on, Escape gives up. What is typed is covered, and the value
 * that is there comes in only when it is asked for. What has several lines is for the pane.
 */
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
import { Button } from '../../parts/button.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { useHiding } from '../../parts/show/secret_value.tsx'
import { texts } from '../../texts/index.ts'
import { type At, atOf, type Edit, type Edits, idOf } from './edits.ts'
import type { Cell } from './place.ts'

const words = texts.secrets

export type CellProps = {
  name: string
  environment: string
  cell: Cell | undefined
  isChosen: boolean
  /** Null where the person may only read. */
  edits: Edits | null
}

type Props = CellProps & { edits: Edits; edit: Edit }

export function CellField({ name: key, environment, cell, edits, edit }: Props) {
  const at = { key, environment }
  const help = useId()
  const field = useRef<HTMLInputElement>(null)
  const { shown, show } = useShown(field, edit)
  const store = (thenAt?: At) => {
    if (edit.text === '' || edit.text === shown) edits.put(at, null)
    else void edits.store(at, cell, edit)
    if (thenAt) edits.begin(thenAt)
    else edits.focus.current = idOf(at)
  }
  const reveal = async () => {
    try {
      const value = await ask('secrets.reveal', { ...edits.place, ...at })
      if (value.includes('\n')) edits.toPane(at, value)
      else show(value)
    } catch (error) {
      edits.put(at, { ...edit, takesFocus: true, error })
    }
  }
  const acts = new Map<string, (event: KeyboardEvent) => unknown>([
    ['Enter', () => store()],
    ['Escape', () => edits.end(at)],
    ['Tab', ({ currentTarget, shiftKey }) => store(beside(currentTarget, shiftKey ? -1 : 1))],
    ['F2', () => cell && reveal()],
  ])
  const press = (event: KeyboardEvent) => {
    const act = acts.get(event.key)
    if (!act || event.nativeEvent.isComposing) return
    event.preventDefault()
    act(event)
  }
  return (
    <div className="cell-field" data-cell={idOf(at)}>
      <input
        ref={field}
        className={shown === null ? 'input mono input-hidden' : 'input mono'}
        aria-label={words.newValueOf(key, environment)}
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
          if (text !== null) edits.toPane(at, text)
        }}
        onBlur={({ relatedTarget }) => {
          const isWithin = relatedTarget?.closest('[data-cell]')?.contains(field.current)
          if (!isWithin && edit.text === '' && edit.error === null) edits.put(at, null)
        }}
        onKeyDown={press}
      />
      {cell && shown === null ? (
        <Button kind="ghost" aria-label={words.showIn(key, environment)} onPress={reveal}>
          {texts.common.reveal}
        </Button>
      ) : null}
      <p id={help} className="help">
        {words.fieldHelp}
      </p>
      {edit.error ? <FailureNote error={edit.error} /> : null}
    </div>
  )
}

/** What is pasted, where a field of one line would lose lines of it: then it does not go there. */
function linesIn(event: ClipboardEvent): string | null {
  const text = event.clipboardData.getData('text').replace(/\n$/, '')
  if (!text.includes('\n')) return null
  event.preventDefault()
  return text
}

/** The text of an edit in its field; the value that was asked for is covered again by itself. */
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

/** The cell before or after, as they are read. */
function beside(field: Element, step: 1 | -1): At | undefined {
  const cells = [...(field.closest('table')?.querySelectorAll('[data-cell]') ?? [])]
  const own = cells.findIndex((cell) => cell.contains(field))
  const found = cells[own + step]?.getAttribute('data-cell')
  return found ? atOf(found) : undefined
}
