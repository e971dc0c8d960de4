/** Entries of the palette. */
import type { LucideIcon } from 'lucide-react'

/** An address in the workspace that is open. */
export type Address = { to: `/w/$workspaceId/${string}`; search: Record<string, string> }

export type PaletteEntry = {
  id: string
  label: string
  /** The place, at the right. */
  hint?: string
  icon?: LucideIcon
  isMono?: boolean
  /** Runs on Enter: an action, or opening an address. `parts` is the typed text. */
  act?(): void
  open?(parts: readonly string[]): Address
  /** Filters of the audit log that list its calls. */
  calls?: Record<string, string>
}

/** `count` is given if more match than are listed. */
export type PaletteGroup = {
  id: string
  title: string
  entries: readonly PaletteEntry[]
  count?: number
}
