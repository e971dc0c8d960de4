/** The end of the account, which names what is lost and wants the address typed. */
import { useState } from 'react'
import { AskError } from '../../keys/ask.ts'
import { TextField } from '../../parts/fields/text_field.tsx'
import { useAsk, useCommand } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { Section, WithPassword } from './section.tsx'

const words = texts.account.delete
const notConfirmed = new AskError({
  code: 'not_confirmed',
  message: '',
  fields: [],
  requestId: null,
})

export function DeleteAccount({ email }: { email: string }) {
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
    <Section title={words.title} what={words.what}>
      <WithPassword open={words.open} verb={words.verb} isDanger onSubmit={submit}>
        <p>{words.lost(personal ?? '', shared ?? '')}</p>
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
