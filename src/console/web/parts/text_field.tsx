/** One line of text with its label, what it is for, and what is wrong with it. */
import {
  TextField as AriaTextField,
  FieldError,
  Input,
  Label,
  Text,
  type TextFieldProps,
} from 'react-aria-components'

type Props = Omit<TextFieldProps, 'className' | 'style' | 'children'> & {
  label: string
  help?: string
  /** What is wrong with it, as the server or the screen said. */
  error?: string | undefined
  mono?: boolean
}

export function TextField({ label, help, error, mono = false, ...props }: Props) {
  return (
    <AriaTextField
      className="field"
      validationBehavior="aria"
      isInvalid={error !== undefined}
      {...props}
    >
      <Label>{label}</Label>
      <Input className={mono ? 'input mono' : 'input'} />
      {help ? (
        <Text slot="description" className="help">
          {help}
        </Text>
      ) : null}
      <FieldError className="field-error">{error}</FieldError>
    </AriaTextField>
  )
}
