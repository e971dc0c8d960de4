/** Surrounds every text field: its label, a hint and its error. */
import { type ReactNode, useState } from 'react'
import { FieldError, Label, Text, TextField, type TextFieldProps } from 'react-aria-components'
import { texts } from '../../texts/index.ts'
import { useRejectedFocus, useRequired } from '../form.tsx'
import { markUnsaved } from '../overlays/unsaved.ts'
import { ERROR, FIELD, FIELD_LABEL, HELP } from './field_class.ts'

export type LabelledProps = Omit<TextFieldProps, 'className' | 'style' | 'children'> & {
  label: string
  help?: string
  /** The error, from the server or the screen. */
  error?: string | undefined
  /** The stored text, if it is not the first value. Other text is unsaved. */
  stored?: string
}

export function Labelled({
  label,
  help,
  error,
  stored,
  children,
  ...props
}: LabelledProps & { children: ReactNode }) {
  const { mark, isMarked } = useRequired(props.isRequired === true, isEmpty(props))
  const field = useRejectedFocus(error)
  const [first] = useState(props.value ?? '')
  const shown = isMarked ? texts.common.required(label) : error
  return (
    <TextField
      ref={field}
      data-field
      className={FIELD}
      validationBehavior="aria"
      isInvalid={shown !== undefined}
      {...props}
      {...mark}
      {...markUnsaved((props.value ?? '') !== (stored ?? first))}
    >
      <Label className={FIELD_LABEL}>{label}</Label>
      {children}
      {help ? (
        <Text slot="description" className={HELP}>
          {help}
        </Text>
      ) : null}
      <FieldError data-field-error className={ERROR}>
        {shown}
      </FieldError>
    </TextField>
  )
}

/** Spaces are a password, but not a name. */
function isEmpty({ value = '', type }: TextFieldProps): boolean {
  return (type === 'password' ? value : value.trim()) === ''
}
