/** Something to choose, or several things. */
import type { ReactNode } from 'react'
import { Checkbox as AriaCheckbox, CheckboxGroup, Label } from 'react-aria-components'

type Props = {
  isSelected: boolean
  onChange(isSelected: boolean): void
  /** Some of several are selected. */
  isIndeterminate?: boolean
  /** In the place of a text beside it. */
  name?: string
  children?: ReactNode
}

export function Checkbox({ name, children, ...props }: Props) {
  return (
    <AriaCheckbox className="checkbox" {...(name ? { 'aria-label': name } : {})} {...props}>
      <span className="checkbox-box" aria-hidden="true" />
      {children}
    </AriaCheckbox>
  )
}

type ChoicesProps = {
  label: string
  options: readonly { id: string; label: string }[]
  value: readonly string[]
  onChange(ids: string[]): void
}

export function Choices({ label, options, value, onChange }: ChoicesProps) {
  return (
    <CheckboxGroup className="field" value={[...value]} onChange={onChange}>
      <Label>{label}</Label>
      <div className="row">
        {options.map(({ id, label: text }) => (
          <AriaCheckbox key={id} value={id} className="checkbox">
            <span className="checkbox-box" aria-hidden="true" />
            {text}
          </AriaCheckbox>
        ))}
      </div>
    </CheckboxGroup>
  )
}
