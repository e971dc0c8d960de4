/**
 * Single-key shortcuts: `G` and a letter opens an area, others belong to the screen. They are off while someone types
 * or a dialog is open (WCAG 2.1.4 asks for that).
 */
import { useEffect } from 'react'
import { isPaletteOpen } from './frame/palette_state.ts'
import { createShared } from './shared.ts'

export type Shortcut = {
  /** A key, or `g` and a key, such as `n` or `g s`. */
  keys: string
  label: string
  act(): void
}

export const NO_SHORTCUTS: readonly Shortcut[] = []

const registered = createShared<readonly (readonly Shortcut[])[]>([])
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
    const onKey = keyHandler()
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
}

function keyHandler(): (event: KeyboardEvent) => void {
  let leader = Number.NEGATIVE_INFINITY
  return (event) => {
    if (event.defaultPrevented || isForOthers(event)) return
    const isSequence = performance.now() - leader < SEQUENCE_MS
    leader = event.key === 'g' && !isSequence ? performance.now() : Number.NEGATIVE_INFINITY
    if (runShortcut(isSequence ? `g ${event.key}` : event.key)) event.preventDefault()
  }
}

/** The screen's shortcuts come after those of the frame. */
function runShortcut(keys: string): boolean {
  const shortcut = registered
    .get()
    .flat()
    .findLast((each) => each.keys === keys)
  shortcut?.act()
  return shortcut !== undefined
}

const FIELDS =
  'input:not([type="checkbox"]):not([type="radio"]), textarea, [role="menu"], [role="listbox"]'
const DIALOGS = '[role="dialog"], [role="alertdialog"]:not([data-toast])'

function isForOthers({ ctrlKey, metaKey, altKey, target, repeat }: KeyboardEvent): boolean {
  if (ctrlKey || metaKey || altKey || repeat || !(target instanceof Element)) return true
  // The palette's file may still load.
  if (isPaletteOpen()) return true
  return target.closest(FIELDS) !== null || document.querySelector(DIALOGS) !== null
}
