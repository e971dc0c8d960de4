/** What every field of text has around it: its label, what it is for, and what is wrong with it. */
import type { ReactNode } from 'react'
import { FieldError, Label, Text, TextField, type TextFieldProps } from 'react-aria-components'
import { texts } from '../../texts/index.ts'
import { useRequired } from '../form.tsx'

export type LabelledProps = Omit<TextFieldProps, 'className' | 'style' | 'children'> & {
  label: string
  help?: string
  /** What is wrong with it, as the server or the screen said. */
  error?: string | undefined
}

export function Labelled({
  label,
  help,
  error,
  children,
  ...props
}: LabelledProps & { children: ReactNode }) {
  const { mark, isMarked } = useRequired(props.isRequired === true, isEmpty(props))
  const shown = isMarked ? texts.common.required(label) : error
  return (
    <TextField
      className="field"
      validationBehavior="aria"
      isInvalid={shown !== undefined}
      {...props}
      {...mark}
    >
      <Label>{label}</Label>
      {children}
      {help ? (
        <Text slot="description" className="help">
          {help}
        </Text>
      ) : null}
      <FieldError className="field-error">{shown}</FieldError>
    </TextField>
  )
}

/** Spaces are a password, and no name. */
function isEmpty({ value = '', type }: TextFieldProps): boolean {
  return (type === 'password' ? value : value.trim()) === ''
}
