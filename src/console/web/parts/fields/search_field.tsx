/** Filters what a screen lists, while it is typed. `/` leads to it. */
import { Search, X } from 'lucide-react'
import { useRef } from 'react'
import { SearchField as AriaSearchField, Button, Input } from 'react-aria-components'
import { texts } from '../../texts/index.ts'
import { Icon } from '../icon.tsx'
import { Kbd } from '../show/kbd.tsx'
import { useSlash } from './use_slash.ts'

type Props = {
  label: string
  placeholder: string
  value: string
  onChange(value: string): void
  shortcut?: '/'
  isWide?: boolean
}

export function SearchField({ label, placeholder, value, onChange, shortcut, isWide }: Props) {
  const input = useRef<HTMLInputElement>(null)
  useSlash(input, shortcut !== undefined)
  return (
    <AriaSearchField
      aria-label={label}
      value={value}
      onChange={onChange}
      className={`flex h-8 items-center gap-2 rounded-control border border-control bg-surface px-2.5 text-ink-3 focus-within:border-accent focus-within:ring-1 focus-within:ring-accent phone:h-10 phone:w-auto phone:min-w-47 phone:flex-1 ${isWide ? 'w-75' : 'w-55'}`}
    >
      <Icon of={Search} />
      <Input
        ref={input}
        placeholder={placeholder}
        aria-keyshortcuts={shortcut}
        className="w-full min-w-0 flex-1 text-ink outline-none placeholder:text-ink-3 phone:text-input [&::-webkit-search-cancel-button]:hidden"
      />
      {value === '' ? null : (
        <Button aria-label={texts.parts.clearNamed(label)} className="rounded-[4px] hover:text-ink">
          <Icon of={X} />
        </Button>
      )}
      {value === '' && shortcut ? <Kbd>{shortcut}</Kbd> : null}
    </AriaSearchField>
  )
}
