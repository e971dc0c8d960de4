/** Finds one of many things of several kinds by typing. What is chosen leaves the field. `/` leads to it. */
import { Search } from 'lucide-react'
import { type KeyboardEvent, useRef, useState } from 'react'
import { UNSAFE_PortalProvider } from 'react-aria/PortalProvider'
import { ComboBox, Input, ListBox, ListBoxItem, Popover } from 'react-aria-components'
import { Icon } from '../icon.tsx'
import { ITEM, LIST, POPOVER } from '../overlays/list_class.ts'
import { Kbd } from '../show/kbd.tsx'
import { useSlash } from './use_slash.ts'
import { useSuggestions } from './use_suggestions.ts'

export type Suggestion = { id: string; label: string; kind: string }

type Props = {
  label: string
  placeholder: string
  /** Best first, few, and none for no text. */
  suggest(text: string): readonly Suggestion[]
  onChoose(id: string): void
}

export function SuggestField({ label, placeholder, suggest, onChoose }: Props) {
  const [text, setText] = useState('')
  const input = useRef<HTMLInputElement>(null)
  const box = useRef<HTMLSpanElement>(null)
  const { getContainer, ...shown } = useSuggestions()
  useSlash(input)
  const items = suggest(text)
  const choose = (id: string) => {
    setText('')
    onChoose(id)
  }
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    const [first] = items
    if (event.key !== 'Enter' || text.trim() === '' || !first) return
    if (event.currentTarget.getAttribute('aria-activedescendant')) return
    event.preventDefault()
    choose(first.id)
  }
  return (
    <ComboBox
      {...shown}
      aria-label={label}
      allowsCustomValue
      menuTrigger="input"
      items={items}
      inputValue={text}
      onInputChange={setText}
      selectedKey={null}
      onSelectionChange={(key) => key !== null && choose(String(key))}
      onBlur={() => setText('')}
      className="w-75 min-w-0 max-w-75 flex-initial phone:w-auto phone:max-w-none phone:flex-1"
    >
      <span
        ref={box}
        className="flex h-8 items-center gap-2 rounded-control border border-control bg-surface px-2.5 text-ink-3 focus-within:border-accent focus-within:ring-1 focus-within:ring-accent phone:h-10"
      >
        <Icon of={Search} />
        <Input
          ref={input}
          placeholder={placeholder}
          aria-keyshortcuts="/"
          autoCapitalize="off"
          spellCheck="false"
          onKeyDown={onKeyDown}
          className="w-full min-w-0 flex-1 truncate text-ink outline-none placeholder:text-ink-3 phone:text-input"
        />
        {text === '' ? <Kbd>/</Kbd> : null}
      </span>
      <UNSAFE_PortalProvider getContainer={getContainer}>
        <Popover triggerRef={box} placement="bottom start" className={`${POPOVER} w-80`} offset={4}>
          <ListBox<Suggestion> className={LIST}>
            {({ id, label: name, kind }) => (
              <ListBoxItem id={id} textValue={name} className={ITEM}>
                <span className="w-20 shrink-0 text-small text-ink-3">{kind}</span>
                <span className="min-w-0 flex-1 truncate">{name}</span>
              </ListBoxItem>
            )}
          </ListBox>
        </Popover>
      </UNSAFE_PortalProvider>
    </ComboBox>
  )
}
