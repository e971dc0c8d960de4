/** Several short values in one field, such as hosts. Enter or a comma adds one, Backspace removes the last. */
import { X } from 'lucide-react'
import { type KeyboardEvent, useRef, useState } from 'react'
import { ComboBox, FieldError, Input, Label } from 'react-aria-components'
import { texts } from '../../texts/index.ts'
import { useRequired } from '../form.tsx'
import { Icon } from '../icon.tsx'
import { markUnsaved } from '../overlays/unsaved.ts'
import { BOX, ERROR, FIELD, FIELD_LABEL } from './field_class.ts'
import { OptionList } from './options.tsx'
import { useSuggestions } from './use_suggestions.ts'

type Props = {
  label: string
  values: readonly string[]
  onChange(values: string[]): void
  suggestions?: readonly string[]
  /** Returns the error of a value, or null. */
  validate?(value: string): string | null
  /** Such as the host of a URL. */
  normalize?(text: string): string
  placeholder?: string
  isRequired?: boolean
}

export function TokenField(props: Props) {
  const { label, values, onChange, suggestions = [], placeholder, isRequired = false } = props
  const { text, setText, error: wrong, add, onKeyDown } = useTokens(props)
  const { getContainer, ...shown } = useSuggestions()
  const { mark, isMarked } = useRequired(isRequired, values.length === 0)
  const error = wrong ?? (isMarked ? texts.common.required(label) : null)
  const [first] = useState(values)
  const isUnsaved = text !== '' || values.join() !== first.join()
  const input = useRef<HTMLInputElement>(null)
  const remove = (value: string) => {
    onChange(values.filter((other) => other !== value))
    input.current?.focus()
  }
  const open = suggestions.filter((suggestion) => !values.includes(suggestion))
  return (
    <ComboBox
      data-field
      className={FIELD}
      allowsCustomValue
      menuTrigger="focus"
      validationBehavior="aria"
      isRequired={isRequired}
      isInvalid={error !== null}
      defaultItems={open.map((id) => ({ id, label: id }))}
      inputValue={text}
      onInputChange={setText}
      selectedKey={null}
      onSelectionChange={(key) => key !== null && add(String(key))}
      onBlur={() => add(text)}
      {...mark}
      {...shown}
      {...markUnsaved(isUnsaved)}
    >
      <Label className={FIELD_LABEL}>{label}</Label>
      <span
        data-invalid={error === null ? undefined : true}
        className={`${BOX} flex min-h-8 flex-wrap items-center gap-1 px-1 py-0.5 focus-within:border-accent focus-within:ring-1 focus-within:ring-accent phone:min-h-10`}
      >
        {values.map((value) => (
          <Token key={value} value={value} onRemove={() => remove(value)} />
        ))}
        <Input
          ref={input}
          placeholder={values.length === 0 ? (placeholder ?? '') : ''}
          onKeyDown={onKeyDown}
          autoCapitalize="off"
          spellCheck="false"
          className="h-6.5 min-w-30 flex-1 px-1.5 outline-none placeholder:text-ink-3 phone:text-input"
        />
      </span>
      <FieldError data-field-error className={ERROR}>
        {error}
      </FieldError>
      <OptionList getContainer={getContainer} />
    </ComboBox>
  )
}

function Token({ value, onRemove }: { value: string; onRemove(): void }) {
  return (
    <span className="inline-flex h-6.5 max-w-full items-center rounded-tag bg-surface-2 pl-1.5 font-mono text-mono text-ink-2">
      <span className="truncate">{value}</span>
      <button
        type="button"
        aria-label={texts.parts.removeNamed(value)}
        onClick={onRemove}
        className="grid size-6 shrink-0 place-items-center rounded-tag hover:text-ink"
      >
        <Icon of={X} size={12} />
      </button>
    </span>
  )
}

function useTokens({ values, onChange, validate, normalize }: Props) {
  const [text, setTyped] = useState('')
  const [error, setError] = useState<string | null>(null)
  const setText = (typed: string) => {
    setTyped(typed)
    setError(null)
  }
  const add = (typed: string) => {
    const value = (normalize?.(typed.trim()) ?? typed.trim()).trim()
    if (value === '') return
    const wrong = validate?.(value) ?? null
    setError(wrong)
    if (wrong !== null) return
    setTyped('')
    if (!values.includes(value)) onChange([...values, value])
  }
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    const isChosen = event.currentTarget.getAttribute('aria-activedescendant')
    if (event.key === 'Backspace' && text === '') onChange(values.slice(0, -1))
    if (event.key !== ',' && (event.key !== 'Enter' || isChosen || text.trim() === '')) return
    event.preventDefault()
    add(text)
  }
  return { text, setText, error, add, onKeyDown }
}
