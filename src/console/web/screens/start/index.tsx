/** The ways in: register, log in, unlock. */
import { Link, useLocation } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { Form } from 'react-aria-components'
import { showRecoveryKey } from '../../frame/recovery_key.ts'
import { Button } from '../../parts/button.tsx'
import { FailureNote } from '../../parts/failure.tsx'
import { TextField } from '../../parts/text_field.tsx'
import { useCommand } from '../../queries.ts'
import { texts } from '../../texts/index.ts'

export default function Start({ lockedAs }: { lockedAs: string | null }) {
  const isNew = useLocation().pathname.endsWith('/register') && lockedAs === null
  const words = texts.start
  return (
    <main className="start stack">
      <h1>{lockedAs ? words.unlock : isNew ? words.register : words.logIn}</h1>
      <Entrance key={String(isNew)} isNew={isNew} lockedAs={lockedAs} />
      {isNew ? (
        <Link to="/login">{words.haveAccount}</Link>
      ) : (
        <Link to="/register">{words.needAccount}</Link>
      )}
    </main>
  )
}

function Entrance({ isNew, lockedAs }: { isNew: boolean; lockedAs: string | null }) {
  const [email, setEmail] = useState(lockedAs ?? '')
  const [password, setPassword] = useState('')
  const register = useCommand('accounts.register')
  const logIn = useCommand('accounts.logIn')
  const command = isNew && !register.isSuccess ? register : logIn
  const words = texts.start
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const credentials = { email, password }
    if (!isNew) return logIn.mutate(credentials)
    register.mutate(credentials, {
      onSuccess: ({ recoveryKey }) => {
        showRecoveryKey(recoveryKey)
        logIn.mutate(credentials)
      },
    })
  }
  return (
    <Form className="stack" onSubmit={submit}>
      <TextField
        label={words.email}
        type="email"
        autoComplete="username"
        isRequired
        isReadOnly={lockedAs !== null}
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
      <Button kind="primary" type="submit" isPending={command.isPending}>
        {lockedAs ? words.unlock : isNew ? words.register : words.logIn}
      </Button>
      {command.isPending ? <p role="status">{words.deriving}</p> : null}
      {command.error ? <FailureNote error={command.error} /> : null}
    </Form>
  )
}
