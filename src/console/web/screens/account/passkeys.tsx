/** A person's passkeys, and a new one. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { TextField } from '../../parts/fields/text_field.tsx'
import { say } from '../../parts/overlays/toasts.tsx'
import { Card } from '../../parts/page/card.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { registerPasskey } from '../../passkeys/ceremonies.ts'
import { usePasskeysHere } from '../../passkeys/here.ts'
import { useAsk } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { PasskeyRow } from './passkey_row.tsx'
import { PasswordDialog } from './password_dialog.tsx'

const words = texts.passkeys

export function PasskeysCard() {
  const { data, error } = useAsk('passkeys.list', null)
  const isHere = usePasskeysHere()
  const [isAdding, setAdding] = useState(false)
  return (
    <Card
      title={words.title}
      description={words.description}
      action={isHere ? <Button onPress={() => setAdding(true)}>{words.add}</Button> : undefined}
    >
      {error ? <FailureNote error={error} /> : null}
      {data?.length === 0 ? (
        <p className="text-ink-3">{isHere === false ? words.unavailable : words.none}</p>
      ) : null}
      {data && data.length > 0 ? (
        <ul aria-label={words.title} className="-my-2 flex flex-col divide-y divide-line">
          {data.map((passkey) => (
            <PasskeyRow key={passkey.id} passkey={passkey} />
          ))}
        </ul>
      ) : null}
      <AddPasskey isOpen={isAdding} onClose={() => setAdding(false)} />
    </Card>
  )
}

function AddPasskey({ isOpen, onClose }: { isOpen: boolean; onClose(): void }) {
  const [label, setLabel] = useState('')
  const client = useQueryClient()
  const add = useMutation({
    mutationFn: registerPasskey,
    onSuccess: () => client.invalidateQueries({ queryKey: ['passkeys.list'] }),
  })
  const close = () => {
    setLabel('')
    onClose()
  }
  const submit = async (password: string) => {
    await add.mutateAsync({ label, password })
    say(words.done(label))
  }
  return (
    <PasswordDialog
      title={words.add}
      verb={words.add}
      isOpen={isOpen}
      onClose={close}
      onSubmit={submit}
    >
      <TextField
        label={words.label}
        help={words.labelHelp}
        isRequired
        autoComplete="off"
        value={label}
        onChange={setLabel}
      />
    </PasswordDialog>
  )
}
