/** Commands that screens add to the palette, and whether the palette is open. */
import type { LucideIcon } from 'lucide-react'
import { useEffect } from 'react'
import { createShared } from '../shared.ts'

export type PaletteCommand = {
  id: string
  label: string
  icon?: LucideIcon
  /** An action unless given. */
  group?: 'places' | 'workspaces'
  /** Offered before anything is typed. */
  isCommon?: boolean
  act(): void
}

const isOpen = createShared(false)
const added = new Set<readonly PaletteCommand[]>()

export const usePaletteOpen = isOpen.useValue
export const isPaletteOpen = isOpen.get
export const openPalette = () => isOpen.set(true)
export const closePalette = () => isOpen.set(false)
export const togglePalette = () => isOpen.set(!isOpen.get())
/** Several components may add the same command. */
export const paletteCommands = () => [
  ...new Map([...added].flat().map((command) => [command.id, command])).values(),
]

/** Adds commands while the component is shown; pass the same array each time. */
export function usePaletteCommands(commands: readonly PaletteCommand[]): void {
  useEffect(() => {
    added.add(commands)
    return () => {
      added.delete(commands)
    }
  }, [commands])
}
