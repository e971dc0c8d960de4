/** A word of a sentence that can be changed: pressed, it opens what it can become. */
import { ChevronDown } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button as AriaButton, DialogTrigger, Popover } from 'react-aria-components'
import { Icon } from '../icon.tsx'
import { POPOVER } from './list_class.ts'

type Props = {
  /** Names what is changed, such as `Hosts`. */
  label: string
  text: string
  /** Nothing is possible with it. */
  tone?: 'amber' | undefined
  children: ReactNode
}

export function TokenMenu({ label, text, tone, children }: Props) {
  const look = tone === 'amber' ? 'bg-amber-soft text-amber' : 'bg-surface-2 text-ink hover:bg-line'
  return (
    <DialogTrigger>
      <AriaButton
        aria-label={`${label}: ${text}`}
        className={`relative inline-flex min-h-6 max-w-full items-center gap-1 rounded-tag px-1.5 text-left align-middle font-mono text-[11.5px] leading-4 transition-colors duration-120 phone:min-h-8 phone:after:absolute phone:after:-inset-y-1.5 phone:after:inset-x-0 ${look}`}
      >
        <span className="min-w-0 wrap-anywhere">{text}</span>
        <Icon of={ChevronDown} size={12} />
      </AriaButton>
      <Popover
        aria-label={label}
        className={`${POPOVER} flex w-80 max-w-[calc(100vw-16px)] flex-col gap-3 p-3`}
      >
        {children}
      </Popover>
    </DialogTrigger>
  )
}
