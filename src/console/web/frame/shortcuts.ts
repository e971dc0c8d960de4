/**
 * Single-key shortcuts: `G` and a letter opens an area, others belong to the screen. They are off while someone types
 * or a dialog is open (WCAG 2.1.4 asks for that).
 */
import { useEffect } from 'react'
import { shared } from '../shared.ts'

export type Shortcut = {
  /** A key, or `g` and a key, such as `n` or `g s`. */
  keys: string
  label: string
  act(): void
}

const registered = shared<readonly (readonly Shortcut[])[]>([])
/** After `g`, the next key must come in this many milliseconds. */
const SEQUENCE_MS = 1_000

export const useAllShortcuts = () => registered.useValue().flat()

/** Active while the component is shown; pass the same array each time. */
export function useShortcuts(shortcuts: readonly Shortcut[]): void {
  useEffect(() => {
    registered.set([...registered.get(), shortcuts])
    return () => registered.set(registered.get().filter((each) => each !== shortcuts))
  }, [shortcuts])
}

/** Listens for the keys of all registered shortcuts. */
export function useShortcutKeys(): void {
  useEffect(() => {
    let leader = Number.NEGATIVE_INFINITY
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || isForOthers(event)) return
      const isSequence = performance.now() - leader < SEQUENCE_MS
      leader = Number.NEGATIVE_INFINITY
      const keys = isSequence ? `g ${event.key}` : event.key
      if (keys === 'g') {
        leader = performance.now()
        return
      }
      // The screen's shortcuts come after those of the frame.
      const shortcut = registered.get().flat().findLast((each) => each.keys === keys)
      if (!shortcut) return
      event.preventDefault()
      shortcut.act()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
}

function isForOthers({ ctrlKey, metaKey, altKey, target, repeat }: KeyboardEvent): boolean {
  if (ctrlKey || metaKey || altKey || repeat || !(target instanceof Element)) return true
  const isTyping = target.closest('input:not([type="checkbox"]):not([type="radio"]), textarea, [role="menu"], [role="listbox"]')
  return isTyping !== null || document.querySelector('[role="dialog"], [role="alertdialog"]:not([data-toast])') !== null
}
