/** Narrows a list to one kind of row, with the count of them. */
import type { ReactNode } from 'react'
import { ToggleButton } from 'react-aria-components'

type Props = {
  label: string
  count?: number
  isSelected: boolean
  tone?: 'amber'
  onPress(): void
}

export function FilterChip({ label, count, isSelected, tone, onPress }: Props) {
  const color = tone === 'amber' ? 'text-amber' : 'text-ink-3'
  return (
    <ToggleButton
      isSelected={isSelected}
      onChange={onPress}
      className="inline-flex h-7 shrink-0 items-center gap-1.5 rounded-full border border-line px-2.5 text-body font-medium whitespace-nowrap text-ink-2 hover:bg-hover selected:border-surface-2 selected:bg-surface-2 selected:text-ink phone:h-8"
    >
      {label}
      {count === undefined ? null : <span className={`tabular-nums ${color}`}>{count}</span>}
    </ToggleButton>
  )
}

export function FilterChips({ label, children }: { label: string; children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms
    <div
      role="group"
      aria-label={label}
      className="flex min-w-0 gap-2 overflow-x-auto p-0.5 desk:flex-wrap desk:overflow-visible"
    >
      {children}
    </div>
  )
}
