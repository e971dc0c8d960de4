/** Address and password, with what else one way in asks for. */
import { type ReactNode, useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { PasswordField } from '../../parts/fields/password_field.tsx'
import { TextField } from '../../parts/fields/text_field.tsx'
import { FieldForm } from '../../parts/form.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { texts } from '../../texts/index.ts'

export type EntranceFields = { email: string; password: string }

type Props = {
  /** Of who is known already. */
  email: string | null
  /** What the password is called where it is chosen now. */
  newPassword?: string
  verb: string
  submit(credentials: EntranceFields): void
  isPending: boolean
  error: unknown
  children?: ReactNode
}

const words = texts.start
/** The worker refuses one that is too weak, whatever was shown until then. */
const ignore = () => {}

export function Entrance({
  email: known,
  newPassword,
  verb,
  submit,
  isPending,
  error,
  children,
}: Props) {
  const [email, setEmail] = useState(known ?? '')
  const [password, setPassword] = useState('')
  const onSubmit = () => {
    submit({ email, password })
  }
  return (
    <FieldForm className="stack" onSubmit={onSubmit}>
      <TextField
        label={words.email}
        type="email"
        autoComplete="username"
        isRequired
        isReadOnly={known !== null}
        value={email}
        onChange={setEmail}
      />
      {newPassword === undefined ? (
        <TextField
          label={words.password}
          type="password"
          autoComplete="current-password"
          isRequired
          autoFocus={known !== null}
          value={password}
          onChange={setPassword}
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
      <Button kind="primary" type="submit" isPending={isPending}>
        {verb}
      </Button>
      {isPending ? <p role="status">{words.deriving}</p> : null}
      {error ? <FailureNote error={error} /> : null}
    </FieldForm>
  )
}
