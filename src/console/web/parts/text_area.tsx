/** Several lines of text; `isHidden` covers what is typed, as a password is. */
import {
  TextArea as AriaTextArea,
  TextField as AriaTextField,
  FieldError,
  Label,
  Text,
  type TextFieldProps,
} from 'react-aria-components'

type Props = Omit<TextFieldProps, 'className' | 'style' | 'children'> & {
  label: string
  help?: string
  error?: string | undefined
  rows?: number
  isHidden?: boolean
}

export function TextArea({ label, help, error, rows = 3, isHidden = false, ...props }: Props) {
  return (
    <AriaTextField
      className="field"
      validationBehavior="aria"
      isInvalid={error !== undefined}
      {...props}
    >
      <Label>{label}</Label>
      <AriaTextArea
        className={isHidden ? 'input mono input-hidden' : 'input mono'}
        rows={rows}
        spellCheck="false"
        autoComplete="off"
        autoCapitalize="off"
      />
      {help ? (
        <Text slot="description" className="help">
          {help}
        </Text>
      ) : null}
      <FieldError className="field-error">{error}</FieldError>
    </AriaTextField>
  )
}
