/** Narrows a list to one kind of row, with the count of them. */
import { X } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button, ToggleButton } from 'react-aria-components'
import { texts } from '../../texts/index.ts'
import { Icon } from '../icon.tsx'

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
      className="inline-flex h-7 shrink-0 items-center gap-1.5 rounded-full border border-line px-2.5 text-body font-medium whitespace-nowrap text-ink-2 hover:bg-hover selected:border-surface-2 selected:bg-surface-2 selected:text-ink forced-colors:selected:outline-2 phone:h-8"
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

/** A filter that applies, until it is removed. */
export function RemovableChip({ label, onRemove }: { label: string; onRemove(): void }) {
  return (
    <span className="inline-flex h-7 max-w-80 shrink-0 items-center rounded-full bg-surface-2 pl-2.5 font-medium phone:h-8">
      <span className="truncate" title={label}>
        {label}
      </span>
      <Button
        aria-label={texts.parts.removeNamed(label)}
        onPress={onRemove}
        className="relative grid size-7 shrink-0 place-items-center rounded-full text-ink-2 hover:text-ink phone:after:absolute phone:after:-inset-2"
      >
        <Icon of={X} size={12} />
      </Button>
    </span>
  )
}
