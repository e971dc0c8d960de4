/** Narrows a list to one kind of row, with the count of them. */
import { X } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button, ToggleButton } from 'react-aria-components'
import { texts } from '../../texts/index.ts'
import { Icon } from '../icon.tsx'
import { SkeletonFigure } from './skeleton.tsx'

type Props = {
  label: string
  /** Null until it is read. */
  count?: number | null
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
      className="relative inline-flex h-7 shrink-0 items-center gap-1.5 rounded-full border border-line px-2.5 text-body font-medium whitespace-nowrap text-ink-2 hover:bg-hover selected:border-surface-2 selected:bg-surface-2 selected:text-ink forced-colors:selected:outline-2 phone:h-8 phone:after:absolute phone:after:inset-x-0 phone:after:-inset-y-1.5"
    >
      {label}
      {count === undefined ? null : (
        <span className={`-mr-0.5 min-w-[2ch] text-center tabular-nums ${color}`}>
          {count ?? <SkeletonFigure />}
        </span>
      )}
    </ToggleButton>
  )
}

export function FilterChips({ label, children }: { label: string; children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms
    <div
      role="group"
      aria-label={label}
      className="-mx-0.5 flex min-w-0 gap-2 overflow-x-auto p-0.5 desk:flex-wrap desk:overflow-visible phone:-my-2 phone:py-2"
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
