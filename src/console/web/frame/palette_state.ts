/** Commands that the palette offers, added by whatever is shown, and whether the palette is open. */
import type { LucideIcon } from 'lucide-react'
import { useEffect } from 'react'
import { shared } from '../shared.ts'

export type PaletteCommand = { id: string; label: string; icon?: LucideIcon; act(): void }

const isOpen = shared(false)
const added = new Set<readonly PaletteCommand[]>()

export const usePaletteOpen = isOpen.useValue
export const openPalette = () => isOpen.set(true)
export const closePalette = () => isOpen.set(false)
export const togglePalette = () => isOpen.set(!isOpen.get())
export const paletteCommands = () => [...added].flat()

/** Adds commands while the component is shown; pass the same array each time. */
export function usePaletteCommands(commands: readonly PaletteCommand[]): void {
  useEffect(() => {
    added.add(commands)
    return () => {
      added.delete(commands)
    }
  }, [commands])
}
