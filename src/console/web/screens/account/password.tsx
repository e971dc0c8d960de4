/** Changes the password. */
import { useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { PasswordField } from '../../parts/fields/password_field.tsx'
import { say } from '../../parts/overlays/toasts.tsx'
import { Card } from '../../parts/page/card.tsx'
import { useCommand } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { PasswordDialog } from './password_dialog.tsx'

const words = texts.account.password

export function PasswordCard({ email }: { email: string }) {
  const [isOpen, setOpen] = useState(false)
  const [password, setPassword] = useState('')
  const [isStrong, setStrong] = useState<boolean | null>(null)
  const change = useCommand('credentials.changePassword', { changes: ['credentials.sessions'] })
  const close = () => {
    setPassword('')
    setOpen(false)
  }
  const submit = async (current: string) => {
    await change.mutateAsync({ current, password })
    say(words.done)
  }
  return (
    <Card
      title={words.title}
      description={words.description}
      action={<Button onPress={() => setOpen(true)}>{words.change}</Button>}
    >
      <PasswordDialog
        title={words.change}
        verb={words.change}
        isOpen={isOpen}
        note={<p className="text-ink-2">{words.effect}</p>}
        onClose={close}
        onSubmit={submit}
        // The field shows the reason.
        maySubmit={() => isStrong !== false}
      >
        <PasswordField
          label={words.next}
          help={texts.start.passwordHelp}
          email={email}
          value={password}
          onChange={setPassword}
          onJudged={setStrong}
        />
      </PasswordDialog>
    </Card>
  )
}
