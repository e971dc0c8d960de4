/** One's own passkeys: what each can do, a new one, another name, and the end of one. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { TextField } from '../../parts/fields/text_field.tsx'
import { FieldForm } from '../../parts/form.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { Loading } from '../../parts/page/loading.tsx'
import { registerPasskey } from '../../passkeys/ceremonies.ts'
import { usePasskeysHere } from '../../passkeys/here.ts'
import { useAsk } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { PasskeyRow } from './passkey_row.tsx'

const words = texts.passkeys

export function Passkeys() {
  const { data, error } = useAsk('passkeys.list', null)
  const isHere = usePasskeysHere()
  return (
    <section className="stack" aria-labelledby="passkeys">
      <h2 id="passkeys">{words.title}</h2>
      <p className="soft">{words.what}</p>
      {error ? <FailureNote error={error} /> : null}
      {data ? null : <Loading />}
      {data?.length === 0 ? <p>{words.none}</p> : null}
      {data && data.length > 0 ? (
        <ul className="plain-list stack">
          {data.map((passkey) => (
            <PasskeyRow key={passkey.id} passkey={passkey} />
          ))}
        </ul>
      ) : null}
      {isHere ? <Adding /> : null}
      {isHere === false ? <p className="soft">{words.unavailable}</p> : null}
    </section>
  )
}

function Adding() {
  const [label, setLabel] = useState('')
  const [password, setPassword] = useState('')
  const client = useQueryClient()
  const adding = useMutation({
    mutationFn: registerPasskey,
    onSuccess: () => {
      setLabel('')
      setPassword('')
      return client.invalidateQueries({ queryKey: ['passkeys.list'] })
    },
  })
  const submit = () => {
    adding.mutate({ label, password })
  }
  return (
    <FieldForm className="stack" onSubmit={submit}>
      <TextField
        label={words.label}
        help={words.labelHelp}
        isRequired
        value={label}
        onChange={setLabel}
      />
      <TextField
        label={words.password}
        help={words.passwordHelp}
        type="password"
        autoComplete="current-password"
        isRequired
        value={password}
        onChange={setPassword}
      />
      <Button type="submit" isPending={adding.isPending}>
        {words.add}
      </Button>
      {adding.error ? <FailureNote error={adding.error} /> : null}
    </FieldForm>
  )
}
