/** `/` leads to the field that searches a screen. */
import { type RefObject, useMemo } from 'react'
import { NO_SHORTCUTS, useShortcuts } from '../../shortcuts.ts'
import { texts } from '../../texts/index.ts'

export function useSlash(input: RefObject<HTMLInputElement | null>, isOn = true): void {
  const shortcuts = useMemo(() => {
    const { filter } = texts.common.shortcuts
    return isOn ? [{ keys: '/', label: filter, act: () => input.current?.focus() }] : NO_SHORTCUTS
  }, [input, isOn])
  useShortcuts(shortcuts)
}
