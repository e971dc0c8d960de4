/** Sets a new password with the recovery key. */
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { offerRecoveryKey } from '../../frame/recovery_key.ts'
import { TextField } from '../../parts/fields/text_field.tsx'
import { useCommand } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { Entrance, type EntranceFields } from './entrance.tsx'

const words = texts.start

export function Recover() {
  const [recoveryKey, setRecoveryKey] = useState('')
  const recover = useCommand('accounts.recover')
  const signIn = useCommand('accounts.logIn')
  const navigate = useNavigate()
  const submit = (credentials: EntranceFields) =>
    recover.mutate(
      { ...credentials, recoveryKey },
      {
        onSuccess: async ({ recoveryKey: next }) => {
          offerRecoveryKey(next)
          setRecoveryKey('')
          await signIn.mutateAsync(credentials)
          await navigate({ to: '/' })
        },
      },
    )
  return (
    <>
      <p className="text-ink-2">{words.recovering}</p>
      <Entrance
        email={null}
        newPassword={words.newPassword}
        verb={words.setPassword}
        submit={submit}
        isPending={recover.isPending || signIn.isPending}
        error={recover.error ?? signIn.error}
      >
        <TextField
          label={words.recoveryKey}
          help={words.recoveryKeyHelp}
          autoComplete="off"
          spellCheck="false"
          isRequired
          mono
          value={recoveryKey}
          onChange={setRecoveryKey}
        />
      </Entrance>
    </>
  )
}
