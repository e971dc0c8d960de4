/** Deletes the account, after its email was typed. */
import { useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { TextField } from '../../parts/fields/text_field.tsx'
import { Card } from '../../parts/page/card.tsx'
import { useAsk, useCommand } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { Effects } from './effects.tsx'
import { PasswordDialog } from './password_dialog.tsx'

const words = texts.account.delete

export function DeleteAccountCard({ email }: { email: string }) {
  const [isOpen, setOpen] = useState(false)
  const [typed, setTyped] = useState('')
  const [isOther, setOther] = useState(false)
  const end = useCommand('credentials.deleteAccount')
  const close = () => {
    setTyped('')
    setOther(false)
    setOpen(false)
  }
  const check = () => {
    setOther(typed !== email)
    return typed === email
  }
  return (
    <Card
      title={words.title}
      description={words.description}
      action={<Button onPress={() => setOpen(true)}>{words.verb}</Button>}
    >
      <PasswordDialog
        title={words.question}
        verb={words.verb}
        isDanger
        isOpen={isOpen}
        note={<Losses />}
        onClose={close}
        onSubmit={(current) => end.mutateAsync({ current })}
        maySubmit={check}
      >
        <TextField
          label={texts.common.typeToConfirm(email)}
          isRequired
          autoComplete="off"
          value={typed}
          onChange={setTyped}
          error={isOther ? words.otherEmail : undefined}
        />
      </PasswordDialog>
    </Card>
  )
}

function Losses() {
  const { data: workspaces = [] } = useAsk('workspaces.list', null)
  const names = (isPersonal: boolean) =>
    workspaces
      .filter(({ type }) => (type === 'personal') === isPersonal)
      .map(({ name }) => name)
      .join(', ')
  return <Effects title={words.losses} effects={words.lost(names(true), names(false))} />
}
