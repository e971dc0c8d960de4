/** Creates a new recovery key, which replaces the earlier one. */
import { useState } from 'react'
import { offerRecoveryKey } from '../../frame/recovery_key.ts'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/page/card.tsx'
import { useCommand } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { PasswordDialog } from './password_dialog.tsx'

const words = texts.account.recovery

export function RecoveryKeyCard() {
  const [isOpen, setOpen] = useState(false)
  const create = useCommand('credentials.newRecoveryKey')
  const submit = async (current: string) => {
    const { recoveryKey } = await create.mutateAsync({ current })
    offerRecoveryKey(recoveryKey)
  }
  return (
    <Card
      title={words.title}
      description={words.description}
      action={<Button onPress={() => setOpen(true)}>{words.create}</Button>}
    >
      <PasswordDialog
        title={words.create}
        verb={words.create}
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        onSubmit={submit}
        note={<p className="text-ink-2">{words.effect}</p>}
      />
    </Card>
  )
}
