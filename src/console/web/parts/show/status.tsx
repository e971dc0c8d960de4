/** A state in a word, never by its color alone. */
import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import { Icon } from '../icon.tsx'

const TONES = {
  green: 'bg-green-soft text-green',
  amber: 'bg-amber-soft text-amber',
  red: 'bg-red-soft text-red',
  neutral: 'bg-surface-2 text-ink-2',
}
const DOTS = {
  green: 'bg-green-solid',
  amber: 'bg-amber-solid',
  red: 'bg-red-solid',
  neutral: 'bg-control',
}

type Props = {
  tone: keyof typeof TONES
  icon?: LucideIcon
  /** A dot in place of an icon, for a running state. */
  dot?: boolean
  children: ReactNode
}

export function Status({ tone, icon, dot = false, children }: Props) {
  return (
    <span
      className={`inline-flex h-5 w-fit shrink-0 items-center gap-[5px] rounded-[6px] px-[7px] text-small font-medium whitespace-nowrap tabular-nums ${TONES[tone]}`}
    >
      {dot ? <i aria-hidden="true" className={`size-1.5 rounded-full ${DOTS[tone]}`} /> : null}
      {icon ? <Icon of={icon} size={12} /> : null}
      {children}
    </span>
  )
}
