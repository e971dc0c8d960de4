/** Words of a sentence that can be changed: one opens a menu of other words, the other a panel with fields. */
import { ChevronDown } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button, DialogTrigger, Popover } from 'react-aria-components'
import { Icon } from '../icon.tsx'
import { POPOVER } from './list_class.ts'
import { MenuAround, type MenuChoice } from './menu.tsx'

const TONES = {
  usual: 'bg-accent-soft text-accent-ink hover:ring-1 hover:ring-accent',
  amber: 'bg-amber-soft text-amber',
}

type WordProps = {
  /** Names the changed field, such as `Hosts`. */
  label: string
  text: string
  /** Amber if nothing is possible with it. */
  tone?: 'amber' | undefined
}

export function WordMenu({ choices, ...word }: WordProps & { choices: readonly MenuChoice[] }) {
  const { label, text } = word
  return (
    <MenuAround
      label={`${label}: ${text}`}
      choices={choices}
      trigger={<Button {...renderWord(word)} />}
    />
  )
}

export function WordPanel({ children, ...word }: WordProps & { children: ReactNode }) {
  const { label, text } = word
  return (
    <DialogTrigger>
      <Button aria-label={`${label}: ${text}`} {...renderWord(word)} />
      <Popover
        aria-label={label}
        className={`${POPOVER} flex w-80 max-w-[calc(100vw-16px)] flex-col gap-3 p-3`}
      >
        {children}
      </Popover>
    </DialogTrigger>
  )
}

/** A finger needs 44 px, which the pseudo-element adds around the word. */
const LOOK =
  'relative inline-flex min-h-6.5 max-w-full items-center gap-1 rounded-tag px-1.5 text-left align-middle leading-5 font-medium transition-colors duration-120 phone:min-h-8 phone:after:absolute phone:after:-inset-y-1.5 phone:after:inset-x-0'

function renderWord({ text, tone }: WordProps) {
  return {
    className: `${LOOK} ${TONES[tone ?? 'usual']}`,
    children: (
      <>
        <span className="min-w-0 wrap-anywhere">{text}</span>
        <Icon of={ChevronDown} size={12} />
      </>
    ),
  }
}
