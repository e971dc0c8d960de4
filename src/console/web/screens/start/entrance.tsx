/** A form with email and password, and the fields that one entrance adds. */
import { type ReactNode, useState } from 'react'
import { failureIn } from '../../availability.ts'
import { Button } from '../../parts/button.tsx'
import { PasswordField } from '../../parts/fields/password_field.tsx'
import { TextField } from '../../parts/fields/text_field.tsx'
import { FieldForm } from '../../parts/form.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { helpFor, texts } from '../../texts/index.ts'

export type EntranceFields = { email: string; password: string }

type Props = {
  /** The account, if it is known. */
  email: string | null
  /** The label of the password, if a new one is chosen. */
  newPassword?: string
  verb: string
  /** A passkey is the first choice. */
  isSecondary?: boolean
  submit(credentials: EntranceFields): void
  isPending: boolean
  error: unknown
  children?: ReactNode
}

const words = texts.start
/** The other entrances, below the form. */
export const LINK = 'font-medium text-accent-ink hover:underline'
/** The worker refuses a weak password, whatever the field shows. */
const ignore = () => {}

export function Entrance(props: Props) {
  const { email: known, newPassword, verb, isSecondary, submit, isPending, error, children } = props
  const [email, setEmail] = useState(known ?? '')
  const [password, setPassword] = useState('')
  const isWrong = newPassword === undefined && failureIn(error)?.code === 'invalid_credentials'
  return (
    <FieldForm className="flex flex-col gap-4" onSubmit={() => submit({ email, password })}>
      {known === null ? (
        <TextField
          label={words.email}
          type="email"
          autoComplete="username"
          isRequired
          value={email}
          onChange={setEmail}
        />
      ) : (
        // Password managers find the account by this field.
        <input hidden readOnly autoComplete="username" value={known} />
      )}
      {newPassword === undefined ? (
        <TextField
          label={words.password}
          type="password"
          autoComplete="current-password"
          isRequired
          autoFocus={known !== null}
          value={password}
          onChange={setPassword}
          error={isWrong ? helpFor('invalid_credentials').said : undefined}
        />
      ) : (
        <PasswordField
          label={newPassword}
          help={words.passwordHelp}
          email={email}
          value={password}
          onChange={setPassword}
          onJudged={ignore}
        />
      )}
      {children}
      {error && !isWrong ? <FailureNote error={error} /> : null}
      <Button
        kind={isSecondary ? 'secondary' : 'primary'}
        type="submit"
        isFull
        isPending={isPending}
      >
        {verb}
      </Button>
      <p role="status" className="min-h-5 text-center text-small text-ink-3 empty:hidden">
        {isPending ? words.deriving : ''}
      </p>
    </FieldForm>
  )
}
