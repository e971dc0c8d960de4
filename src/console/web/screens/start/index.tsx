/** The ways in: register, log in, unlock. */
import { Link, useLocation } from '@tanstack/react-router'
import { type FormEvent, lazy, Suspense, useState } from 'react'
import { Form } from 'react-aria-components'
import { showRecoveryKey } from '../../frame/recovery_key.ts'
import { Button } from '../../parts/button.tsx'
import { FailureNote } from '../../parts/failure.tsx'
import { TextField } from '../../parts/text_field.tsx'
import { useCommand } from '../../queries.ts'
import { texts } from '../../texts/index.ts'

const UsePasskey = lazy(() => import('../../passkeys/use_passkey.tsx'))

export default function Start({ lockedAs }: { lockedAs: string | null }) {
  const isNew = useLocation().pathname.endsWith('/register')
  const words = texts.start
  if (lockedAs !== null) {
    return (
      <main className="start stack">
        <h1>{words.unlock}</h1>
        <Unlock email={lockedAs} />
        <ByPasskey isLocked />
      </main>
    )
  }
  return (
    <main className="start stack">
      <h1>{isNew ? words.register : words.logIn}</h1>
      {isNew ? <Register /> : <LogIn />}
      {isNew ? null : <ByPasskey isLocked={false} />}
      {isNew ? (
        <Link to="/login">{words.haveAccount}</Link>
      ) : (
        <Link to="/register">{words.needAccount}</Link>
      )}
    </main>
  )
}

function ByPasskey({ isLocked }: { isLocked: boolean }) {
  return (
    <Suspense fallback={null}>
      <UsePasskey isLocked={isLocked} />
    </Suspense>
  )
}

function Register() {
  const register = useCommand('accounts.register')
  const logIn = useCommand('accounts.logIn')
  const words = texts.start
  const submit = (credentials: Credentials) =>
    register.mutate(credentials, {
      onSuccess: ({ recoveryKey }) => {
        showRecoveryKey(recoveryKey)
        logIn.mutate(credentials)
      },
    })
  return (
    <Entrance
      email={null}
      isNew
      submit={submit}
      verb={words.register}
      isPending={register.isPending || logIn.isPending}
      error={register.error ?? logIn.error}
    />
  )
}

function LogIn() {
  const { mutate, isPending, error } = useCommand('accounts.logIn')
  return (
    <Entrance
      email={null}
      submit={mutate}
      verb={texts.start.logIn}
      isPending={isPending}
      error={error}
    />
  )
}

function Unlock({ email }: { email: string }) {
  const { mutate, isPending, error } = useCommand('accounts.unlock')
  return (
    <Entrance
      email={email}
      submit={mutate}
      verb={texts.start.unlock}
      isPending={isPending}
      error={error}
    />
  )
}

type Credentials = { email: string; password: string }
type EntranceProps = {
  /** Of who is known already. */
  email: string | null
  isNew?: boolean
  verb: string
  submit(credentials: Credentials): void
  isPending: boolean
  error: unknown
}

function Entrance({ email: known, isNew = false, verb, submit, isPending, error }: EntranceProps) {
  const [email, setEmail] = useState(known ?? '')
  const [password, setPassword] = useState('')
  const words = texts.start
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    submit({ email, password })
  }
  return (
    <Form className="stack" onSubmit={onSubmit}>
      <TextField
        label={words.email}
        type="email"
        autoComplete="username"
        isRequired
        isReadOnly={known !== null}
        value={email}
        onChange={setEmail}
      />
      <TextField
        label={words.password}
        type="password"
        autoComplete={isNew ? 'new-password' : 'current-password'}
        isRequired
        value={password}
        onChange={setPassword}
        {...(isNew ? { help: words.passwordHelp } : {})}
      />
      <Button kind="primary" type="submit" isPending={isPending}>
        {verb}
      </Button>
      {isPending ? <p role="status">{words.deriving}</p> : null}
      {error ? <FailureNote error={error} /> : null}
    </Form>
  )
}
