/** One of several options, shown by its label. */
import { ChevronsUpDown } from 'lucide-react'
import { Select as AriaSelect, Button, FieldError, Label, SelectValue } from 'react-aria-components'
import { texts } from '../../texts/index.ts'
import { useRequired } from '../form.tsx'
import { Icon } from '../icon.tsx'
import { BOX, ERROR, FIELD, FIELD_LABEL } from './field_class.ts'
import { type FieldOption, OptionList } from './options.tsx'

type Props<Id extends string> = {
  label: string
  options: readonly FieldOption<Id>[]
  value: Id | null
  onChange(id: Id): void
  /** For a field below a heading with the same text. */
  isLabelHidden?: boolean
  isDisabled?: boolean
  isRequired?: boolean
}

export function Select<Id extends string>(props: Props<Id>) {
  const { label, options, value, onChange, isLabelHidden = false, ...rest } = props
  const { mark, isMarked } = useRequired(rest.isRequired === true, value === null)
  return (
    <AriaSelect
      data-field
      className={FIELD}
      validationBehavior="aria"
      isInvalid={isMarked}
      value={value}
      placeholder={texts.parts.choose}
      onChange={(key) => {
        const chosen = options.find(({ id }) => id === key)
        if (chosen) onChange(chosen.id)
      }}
      {...rest}
      {...mark}
    >
      <Label className={isLabelHidden ? 'sr-only' : FIELD_LABEL}>{label}</Label>
      <Button
        className={`${BOX} flex h-8 w-full items-center gap-2 px-2.5 text-left hover:bg-hover phone:h-10`}
      >
        <SelectValue className="min-w-0 flex-1 truncate data-placeholder:text-ink-3">
          {({ selectedText, defaultChildren }) => selectedText || defaultChildren}
        </SelectValue>
        <Icon of={ChevronsUpDown} size={13} />
      </Button>
      <FieldError data-field-error className={ERROR}>
        {texts.common.required(label)}
      </FieldError>
      <OptionList options={options} />
    </AriaSelect>
  )
}
