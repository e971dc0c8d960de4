/** Keys of the secrets screen. E and C act on the cell that has the focus, or on the one in the inspector. */
import { useMemo } from 'react'
import { ask } from '../../keys/ask.ts'
import { say } from '../../parts/overlays/toasts.tsx'
import { type Shortcut, useShortcuts } from '../../shortcuts.ts'
import { helpFor, texts } from '../../texts/index.ts'
import { type At, atOf, type Edits } from './edits.ts'
import { type Matrix, type Project, useEnvironment, useGo, useParameter } from './place.ts'

const words = texts.matrix

type Props = { place: Project; matrix: Matrix; edits: Edits | null }

/** Renders nothing, so that another secret in the address does not render the screen again. */
export function MatrixShortcuts({ place, matrix, edits }: Props): null {
  const go = useGo()
  const key = useParameter('key')
  const environment = useEnvironment(matrix)
  const shortcuts = useMemo((): Shortcut[] => {
    const target = (): At | null => {
      const cell = document.activeElement?.closest('[data-cell]')?.getAttribute('data-cell')
      if (cell) return atOf(cell)
      return key === undefined ? null : { key, environment }
    }
    const withTarget = (act: (at: At) => unknown) => () => {
      const at = target()
      if (at) act(at)
    }
    const copy = {
      keys: 'c',
      label: words.copyValue,
      act: withTarget((at) => copyValue(place, at)),
    }
    if (!edits) return [copy]
    const edit = withTarget((at) => {
      if (at.key === key && at.environment === environment) go({ key: undefined })
      edits.begin(at)
    })
    return [
      { keys: 'n', label: words.add, act: () => go({ pane: 'new', key: undefined }) },
      { keys: 'e', label: words.edit, act: edit },
      copy,
    ]
  }, [place, key, environment, edits, go])
  useShortcuts(shortcuts)
  return null
}

/** Without showing it. */
async function copyValue(place: Project, at: At): Promise<void> {
  try {
    const value = await ask('secrets.reveal', { ...place, ...at })
    await navigator.clipboard.writeText(value)
    say(words.copied(at.key))
  } catch {
    say(helpFor('not_copied').said ?? '')
  }
}
