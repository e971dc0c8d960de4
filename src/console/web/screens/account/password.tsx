/** Another password, which ends all other sessions. */
import { useState } from 'react'
import { PasswordField } from '../../parts/fields/password_field.tsx'
import { say } from '../../parts/overlays/toasts.tsx'
import { useCommand } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { Section, WithPassword } from './section.tsx'

const words = texts.account.password
const ignore = () => {}

export function Password({ email }: { email: string }) {
  const [password, setPassword] = useState('')
  const change = useCommand('credentials.changePassword', { changes: ['credentials.sessions'] })
  const submit = async (current: string) => {
    await change.mutateAsync({ current, password })
    setPassword('')
    say(words.done)
  }
  return (
    <Section title={words.title} what={words.what}>
      <WithPassword open={words.open} verb={words.verb} onSubmit={submit}>
        <PasswordField
          label={words.next}
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
