/** Creates an account. The first one of an installation is its owner's. */
import { useLocation, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { offerRecoveryKey } from '../../frame/recovery_key.ts'
import { TextField } from '../../parts/fields/text_field.tsx'
import { Banner } from '../../parts/page/banner.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { useAsk, useCommand } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { readInvitationLink } from '../workspaces/link.ts'
import { Entrance, type EntranceFields } from './entrance.tsx'

const words = texts.start

export function Register() {
  const { data: instance, error } = useAsk('accounts.instance', null)
  const [ownerCode, setOwnerCode] = useState('')
  const { submit, ...state } = useRegistration(ownerCode)
  if (error) return <FailureNote error={error} />
  if (instance && !instance.may_register) return <Banner>{words.closed}</Banner>
  return (
    <>
      {instance && !instance.has_owner ? <Banner>{words.owner}</Banner> : null}
      <Entrance
        email={null}
        newPassword={words.password}
        verb={words.register}
        submit={submit}
        {...state}
      >
        {instance?.needs_owner_code ? (
          <TextField
            label={words.ownerCode}
            help={words.ownerCodeHelp}
            type="password"
            autoComplete="off"
            isRequired
            value={ownerCode}
            onChange={setOwnerCode}
          />
        ) : null}
      </Entrance>
    </>
  )
}

/** Registers, signs in, and opens the first steps or an invitation, after the recovery key is shown. */
function useRegistration(ownerCode: string) {
  const register = useCommand('accounts.register')
  const navigate = useNavigate()
  const { hash } = useLocation()
  const signIn = useCommand('accounts.logIn')
  const submit = (credentials: EntranceFields) => {
    const code = ownerCode === '' ? {} : { ownerCode }
    register.mutate(
      { ...credentials, ...code },
      {
        onSuccess: async ({ recoveryKey, workspaceId }) => {
          offerRecoveryKey(recoveryKey)
          await signIn.mutateAsync(credentials)
          if (!readInvitationLink(hash))
            await navigate({ to: '/w/$workspaceId/first-steps', params: { workspaceId } })
        },
      },
    )
  }
  const isPending = register.isPending || signIn.isPending
  return { submit, isPending, error: register.error ?? signIn.error }
}
