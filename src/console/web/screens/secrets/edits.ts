/** Text that is typed into cells of the matrix. It survives scrolling out of view, and a refusal. */
import { useCallback, useMemo, useRef, useState } from 'react'
import { AskError } from '../../keys/ask.ts'
import { say } from '../../parts/overlays/toasts.tsx'
import { texts } from '../../texts/index.ts'
import { type Carried, carry } from './carried.ts'
import { type Cell, type Matrix, type Project, useGo } from './place.ts'
import { useSave } from './save.ts'

export type At = { key: string; environment: string }
/** The edit of one cell. The field writes its text, which is read when it is saved: no key press renders anything. */
export type Edit = {
  text: string
  /** The version that the person saw when they began, or null for the one that they see now. */
  version: number | null
  /** The field takes the focus, once. */
  takesFocus: boolean
  error: unknown
}

export type Edits = ReturnType<typeof useEdits>

export function idOf({ key, environment }: At): string {
  return `${environment} ${key}`
}

export function atOf(id: string): At {
  const [environment = '', key = ''] = id.split(' ')
  return { key, environment }
}

/** Keeps an edit that was begun in the same cell meanwhile, with the reason beside it. */
function reopenEdit(open: ReadonlyMap<string, Edit>, id: string, refused: Edit) {
  const newer = open.get(id)
  const { error } = refused
  const isOlder = error instanceof AskError && error.code === 'conflict'
  const again = isOlder ? { ...refused, version: null } : refused
  return new Map(open).set(id, newer ? { ...newer, error } : again)
}

export function useEdits(place: Project, { rows }: Matrix) {
  const { mutateAsync, reset } = useSave(place)
  const go = useGo()
  const [open, setOpen] = useState<ReadonlyMap<string, Edit>>(new Map())
  /** The cell that takes the focus when its field closes. */
  const focus = useRef<string | null>(null)
  const put = useCallback((at: At, edit: Edit | null) => {
    setOpen((before) => {
      const next = new Map(before)
      if (edit) next.set(idOf(at), edit)
      else next.delete(idOf(at))
      return next
    })
  }, [])
  const begin = useCallback(
    (at: At) => {
      const version = rows.find(({ key }) => key === at.key)?.cells[at.environment]?.version ?? 0
      put(at, { text: '', version, takesFocus: true, error: null })
    },
    [put, rows],
  )
  const end = useCallback(
    (at: At) => {
      focus.current = idOf(at)
      put(at, null)
    },
    [put],
  )
  const store = useCallback(
    async (at: At, cell: Cell | undefined, { text, version }: Edit) => {
      put(at, null)
      const expectedVersion = version ?? cell?.version ?? 0
      const isSetting = cell?.isSensitive === false
      try {
        await mutateAsync({ ...place, ...at, ...{ value: text, expectedVersion, isSetting } })
        say(texts.matrix.saved(at.key, at.environment))
      } catch (error) {
        const takesFocus = document.activeElement?.getAttribute('data-cell') === idOf(at)
        setOpen((before) => reopenEdit(before, idOf(at), { text, version, takesFocus, error }))
      }
      // Otherwise the page would keep the value that was sent.
      reset()
    },
    [put, mutateAsync, reset, place],
  )
  const toPane = useCallback(
    ({ key, environment }: At, value: Carried) => {
      carry(key, environment, value)
      put({ key, environment }, null)
      go({ key, environment, pane: undefined })
    },
    [put, go],
  )
  return useMemo(
    () => ({ place, open, focus, begin, end, put, store, toPane }),
    [place, open, begin, end, put, store, toPane],
  )
}
