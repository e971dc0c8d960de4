/**
 * Suggestions below a field keep nothing else from being used. React Aria hides the rest of the page from screen
 * readers while they are shown, and puts them outside of every landmark.
 */
import { useEffect, useMemo, useRef } from 'react'

/** React Aria hides no element that has it. */
const VISIBLE = 'data-react-aria-top-layer'

/** `ref` goes to the element around the field, and `getContainer` says where the list belongs. */
export function useSuggestions() {
  const ref = useRef<HTMLDivElement>(null)
  const kept = useRef<Element | null>(null)
  const list = useMemo(() => {
    const onOpenChange = (isOpen: boolean) => {
      kept.current?.removeAttribute(VISIBLE)
      kept.current = isOpen ? (ref.current?.closest(AROUND) ?? null) : null
      kept.current?.setAttribute(VISIBLE, '')
    }
    const getContainer = () =>
      ref.current?.closest<HTMLElement>('[data-dialog], main') ?? document.body
    return { ref, onOpenChange, getContainer }
  }, [])
  useEffect(() => () => list.onOpenChange(false), [list])
  return list
}

const AROUND = '[role="dialog"], [role="alertdialog"], #root'
