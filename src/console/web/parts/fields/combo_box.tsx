/** One of many options, found by typing. With `allowsOther`, the typed text is a value, too. */
import { ChevronsUpDown } from 'lucide-react'
import { ComboBox as AriaComboBox, Button, FieldError, Input, Label } from 'react-aria-components'
import { texts } from '../../texts/index.ts'
import { useRequired } from '../form.tsx'
import { Icon } from '../icon.tsx'
import { ERROR, FIELD, FIELD_LABEL, INPUT } from './field_class.ts'
import { type FieldOption, OptionList } from './options.tsx'
import { useSuggestions } from './use_suggestions.ts'

type Props = {
  label: string
  options: readonly FieldOption[]
  /** The ID of an option, or the other text that was typed. */
  value: string
  onChange(value: string): void
  allowsOther?: boolean
  isRequired?: boolean
  placeholder?: string
}

export function ComboBox(props: Props) {
  const { label, options, value, onChange, allowsOther = false, isRequired = false } = props
  const { getContainer, ...shown } = useSuggestions()
  const { mark, isMarked } = useRequired(isRequired, value.trim() === '')
  const labelOf = (id: string) => options.find((option) => option.id === id)?.label ?? id
  const typed = {
    inputValue: labelOf(value),
    onInputChange: (text: string) =>
      onChange(options.find((option) => option.label === text)?.id ?? text),
  }
  return (
    <AriaComboBox
      data-field
      className={FIELD}
      defaultItems={options}
      validationBehavior="aria"
      isInvalid={isMarked}
      isRequired={isRequired}
      allowsCustomValue={allowsOther}
      selectedKey={options.some(({ id }) => id === value) ? value : null}
      onSelectionChange={(key) => {
        if (key !== null) onChange(String(key))
      }}
      {...(allowsOther ? typed : {})}
      {...mark}
      {...shown}
    >
      <Label className={FIELD_LABEL}>{label}</Label>
      <span className="relative flex">
        <Input className={`${INPUT} pr-8`} placeholder={props.placeholder ?? ''} />
        <Button
          aria-label={texts.parts.openNamed(label)}
          className="absolute inset-y-0 right-0 grid w-8 place-items-center text-ink-3"
        >
          <Icon of={ChevronsUpDown} size={13} />
        </Button>
      </span>
      <FieldError data-field-error className={ERROR}>
        {texts.common.required(label)}
      </FieldError>
      <OptionList getContainer={getContainer} />
    </AriaComboBox>
  )
}
