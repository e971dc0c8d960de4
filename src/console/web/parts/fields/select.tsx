/** One of several, shown with its label. */
import {
  Select as AriaSelect,
  Button,
  FieldError,
  Label,
  ListBox,
  ListBoxItem,
  Popover,
  SelectValue,
} from 'react-aria-components'
import { texts } from '../../texts/index.ts'
import { useRequired } from '../form.tsx'

type Props<Id extends string> = {
  label: string
  options: readonly { id: Id; label: string }[]
  value: Id | null
  onChange(id: Id): void
  isDisabled?: boolean
  isRequired?: boolean
}

export function Select<Id extends string>({ label, options, value, onChange, ...rest }: Props<Id>) {
  const { mark, isMarked } = useRequired(rest.isRequired === true, value === null)
  return (
    <AriaSelect
      className="field"
      validationBehavior="aria"
      isInvalid={isMarked}
      value={value}
      onChange={(key) => {
        const chosen = options.find(({ id }) => id === key)
        if (chosen) onChange(chosen.id)
      }}
      {...rest}
      {...mark}
    >
      <Label>{label}</Label>
      <Button className="input select">
        <SelectValue />
        <span aria-hidden="true">▾</span>
      </Button>
      <FieldError className="field-error">{texts.common.required(label)}</FieldError>
      <Popover className="popover">
        <ListBox className="choices">
          {options.map(({ id, label: text }) => (
            <ListBoxItem key={id} id={id} textValue={text} className="choice">
              {text}
            </ListBoxItem>
          ))}
        </ListBox>
      </Popover>
    </AriaSelect>
  )
}
