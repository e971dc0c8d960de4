/** One of several, shown with its label. */
import {
  Select as AriaSelect,
  Button,
  Label,
  ListBox,
  ListBoxItem,
  Popover,
  SelectValue,
} from 'react-aria-components'

type Props<Id extends string> = {
  label: string
  options: readonly { id: Id; label: string }[]
  value: Id | null
  onChange(id: Id): void
  isDisabled?: boolean
}

export function Select<Id extends string>({ label, options, value, onChange, ...rest }: Props<Id>) {
  return (
    <AriaSelect
      className="field"
      value={value}
      onChange={(key) => {
        const chosen = options.find(({ id }) => id === key)
        if (chosen) onChange(chosen.id)
      }}
      {...rest}
    >
      <Label>{label}</Label>
      <Button className="input select">
        <SelectValue />
        <span aria-hidden="true">▾</span>
      </Button>
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
