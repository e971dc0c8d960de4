/** What every field of text has around it: its label, what it is for, and what is wrong with it. */
import type { ReactNode } from 'react'
import { FieldError, Label, Text, TextField, type TextFieldProps } from 'react-aria-components'

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
  return (
    <TextField
      className="field"
      validationBehavior="aria"
      isInvalid={error !== undefined}
      {...props}
    >
      <Label>{label}</Label>
      {children}
      {help ? (
        <Text slot="description" className="help">
          {help}
        </Text>
      ) : null}
      <FieldError className="field-error">{error}</FieldError>
    </TextField>
  )
}
