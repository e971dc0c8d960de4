/** A numbered step with its title. */
import { Check } from 'lucide-react'
import type { ReactNode } from 'react'
import { Icon } from '../../parts/icon.tsx'

type StepProps = {
  number: number
  title: string
  isDone?: boolean
  isCurrent?: boolean
  children: ReactNode
}

export function Step({ number, title, isDone = false, isCurrent = false, children }: StepProps) {
  const tone = isCurrent
    ? 'border-accent bg-accent text-on-accent'
    : isDone
      ? 'border-transparent bg-green-soft text-green'
      : 'border-line-2 text-ink-2'
  return (
    <li className="flex gap-3" {...(isCurrent ? { 'aria-current': 'step' as const } : {})}>
      <span
        aria-hidden="true"
        className={`grid size-6 shrink-0 place-items-center rounded-full border text-small font-semibold ${tone}`}
      >
        {isDone ? <Icon of={Check} size={13} /> : number}
      </span>
      <div className="flex min-w-0 flex-1 flex-col gap-3">
        <h2 className="text-title leading-6 font-semibold">{title}</h2>
        {children}
      </div>
    </li>
  )
}
