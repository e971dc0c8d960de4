/** A passkey in the list, with what can be done about it. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { TextField } from '../../parts/fields/text_field.tsx'
import { FieldForm } from '../../parts/form.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { letPasskeyUnlock, type OwnPasskey } from '../../passkeys/ceremonies.ts'
import { useCommand } from '../../queries.ts'
import { texts } from '../../texts/index.ts'

const words = texts.passkeys
const dates = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })
const dateOf = (text: string) => dates.format(new Date(text))
const changes = ['passkeys.list'] as const

type Doing = 'renaming' | 'removing' | 'letting' | null

export function PasskeyRow({ passkey }: { passkey: OwnPasskey }) {
  const [doing, setDoing] = useState<Doing>(null)
  const done = () => setDoing(null)
  const isHere = passkey.rp_id === location.hostname
  return (
    <li className="stack">
      <div>
        <strong>{passkey.label}</strong> <span className="soft">{abilityOf(passkey)}</span>
      </div>
      <div className="soft small">
        {isHere ? null : `${words.elsewhere(passkey.rp_id)} · `}
        {words.added(dateOf(passkey.created_at))} ·{' '}
        {passkey.last_used_at ? words.used(dateOf(passkey.last_used_at)) : words.neverUsed}
      </div>
      <div className="row">
        <Button kind="ghost" onPress={() => setDoing('renaming')}>
          {words.rename}
        </Button>
        {passkey.can_unlock || !isHere ? null : (
          <Button kind="ghost" onPress={() => setDoing('letting')}>
            {words.letUnlock}
          </Button>
        )}
        <Button kind="ghost" onPress={() => setDoing('removing')}>
          {words.remove}
        </Button>
      </div>
      {doing === 'renaming' ? <Renaming passkey={passkey} done={done} /> : null}
      {doing === 'removing' ? <Removing passkey={passkey} done={done} /> : null}
      {doing === 'letting' ? <Letting passkey={passkey} done={done} /> : null}
    </li>
  )
}

function abilityOf({ can_unlock }: OwnPasskey): string {
  return can_unlock ? words.unlocks : words.logsIn
}

type Props = { passkey: OwnPasskey; done(): void }

function Renaming({ passkey, done }: Props) {
  const [label, setLabel] = useState(passkey.label)
  const rename = useCommand('passkeys.rename', { changes })
  const submit = () => {
    rename.mutate({ id: passkey.id, label }, { onSuccess: done })
  }
  return (
    <FieldForm className="stack" onSubmit={submit}>
      <TextField label={words.label} isRequired autoFocus value={label} onChange={setLabel} />
      <div className="row">
        <Button type="submit" isPending={rename.isPending}>
          {words.save}
        </Button>
        <Button kind="ghost" onPress={done}>
          {texts.common.cancel}
        </Button>
      </div>
      {rename.error ? <FailureNote error={rename.error} /> : null}
    </FieldForm>
  )
}

function Removing({ passkey, done }: Props) {
  const remove = useCommand('passkeys.remove', { changes })
  return (
    <div className="stack">
      <p>{words.removing(passkey.label)}</p>
      <div className="row">
        <Button
          kind="danger"
          isPending={remove.isPending}
          onPress={() => remove.mutate({ id: passkey.id })}
        >
          {words.remove}
        </Button>
        <Button kind="ghost" autoFocus onPress={done}>
          {texts.common.cancel}
        </Button>
      </div>
      {remove.error ? <FailureNote error={remove.error} /> : null}
    </div>
  )
}

/** After new keys of the account, or where the authenticator has come to have a PRF. */
function Letting({ passkey, done }: Props) {
  const [password, setPassword] = useState('')
  const client = useQueryClient()
  const letting = useMutation({
    mutationFn: () => letPasskeyUnlock(passkey, password),
    onSuccess: () => {
      done()
      return client.invalidateQueries({ queryKey: changes })
    },
  })
  const submit = () => {
    letting.mutate()
  }
  return (
    <FieldForm className="stack" onSubmit={submit}>
      <TextField
        label={words.password}
        type="password"
        autoComplete="current-password"
        isRequired
        autoFocus
        value={password}
        onChange={setPassword}
      />
      <div className="row">
        <Button type="submit" isPending={letting.isPending}>
          {words.letUnlock}
        </Button>
        <Button kind="ghost" onPress={done}>
          {texts.common.cancel}
        </Button>
      </div>
      {letting.error ? <FailureNote error={letting.error} /> : null}
    </FieldForm>
  )
}
