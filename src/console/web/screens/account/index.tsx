/** One's own account: what opens it, where it is open, its keys, and its end. */

import { useState } from 'react'
import { offerRecoveryKey } from '../../frame/recovery_key.ts'
import { AskError } from '../../keys/ask.ts'
import { PasswordField } from '../../parts/fields/password_field.tsx'
import { TextField } from '../../parts/fields/text_field.tsx'
import { say } from '../../parts/overlays/toasts.tsx'
import { Banner } from '../../parts/page/banner.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { useAccountState, useAsk, useCommand } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { StayingSelect, stayingAt, stayingOf } from '../start/staying_select.tsx'
import { AccountKeysSection } from './keys.tsx'
import { Passkeys } from './passkeys.tsx'
import { Section, WithPassword } from './section.tsx'
import { SessionsSection } from './sessions.tsx'

export function AccountScreen() {
  const account = useAccountState()
  if (account?.kind !== 'open') return null
  return (
    <div className="stack steps">
      <h1>{texts.account.title}</h1>
      <StayingSection until={account.until} />
      <Passkeys />
      <Password email={account.email} />
      <SessionsSection />
      <RecoveryKey />
      <AccountKeysSection />
      <DeleteAccount email={account.email} />
    </div>
  )
}

const moments = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

function StayingSection({ until }: { until: number | null }) {
  const { stays, idle } = texts.account.staying
  const stay = useCommand('accounts.stay')
  return (
    <section className="stack form" aria-label={texts.start.staying.label}>
      <Banner>{until === null ? idle : stays(moments.format(until))}</Banner>
      <StayingSelect value={stayingAt(until)} onChange={(id) => stay.mutate(stayingOf(id))} />
      {stay.error ? <FailureNote error={stay.error} /> : null}
    </section>
  )
}

const recoveryWords = texts.account.recovery

function RecoveryKey() {
  const make = useCommand('credentials.newRecoveryKey')
  const submit = async (current: string) => {
    const { recoveryKey } = await make.mutateAsync({ current })
    offerRecoveryKey(recoveryKey)
  }
  return (
    <Section title={recoveryWords.title} what={recoveryWords.what}>
      <WithPassword open={recoveryWords.open} verb={recoveryWords.verb} onSubmit={submit} />
    </Section>
  )
}

const passwordWords = texts.account.password
const ignore = () => {}

function Password({ email }: { email: string }) {
  const [password, setPassword] = useState('')
  const change = useCommand('credentials.changePassword', { changes: ['credentials.sessions'] })
  const submit = async (current: string) => {
    await change.mutateAsync({ current, password })
    setPassword('')
    say(passwordWords.done)
  }
  return (
    <Section title={passwordWords.title} what={passwordWords.what}>
      <WithPassword open={passwordWords.open} verb={passwordWords.verb} onSubmit={submit}>
        <PasswordField
          label={passwordWords.next}
          help={texts.start.passwordHelp}
          email={email}
          value={password}
          onChange={setPassword}
          onJudged={ignore}
        />
      </WithPassword>
    </Section>
  )
}

const deleteAccountWords = texts.account.delete
const notConfirmed = new AskError({
  code: 'not_confirmed',
  message: '',
  fields: [],
  requestId: null,
})

function DeleteAccount({ email }: { email: string }) {
  const [typed, setTyped] = useState('')
  const { data: workspaces = [] } = useAsk('workspaces.list', null)
  const end = useCommand('credentials.deleteAccount')
  const submit = async (current: string) => {
    if (typed !== email) throw notConfirmed
    await end.mutateAsync({ current })
  }
  const [personal, shared] = [true, false].map((isPersonal) =>
    workspaces
      .filter(({ type }) => (type === 'personal') === isPersonal)
      .map(({ name }) => name)
      .join(', '),
  )
  return (
    <Section title={deleteAccountWords.title} what={deleteAccountWords.what}>
      <WithPassword
        open={deleteAccountWords.open}
        verb={deleteAccountWords.verb}
        isDanger
        onSubmit={submit}
      >
        <p>{deleteAccountWords.lost(personal ?? '', shared ?? '')}</p>
        <TextField
          label={texts.common.typeToConfirm(email)}
          isRequired
          value={typed}
          onChange={setTyped}
        />
      </WithPassword>
    </Section>
  )
}
