/** Which environments a token has the keys of, what it lacks and why, and the way to give them to it. */
import { useState } from 'react'
import type { Input, Returned } from '../../keys/messages.ts'
import { Button } from '../../parts/button.tsx'
import { say } from '../../parts/overlays/toasts.tsx'
import { Banner } from '../../parts/page/banner.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { Loading } from '../../parts/page/loading.tsx'
import { useAsk, useCommand } from '../../queries.ts'
import { texts } from '../../texts/index.ts'

const words = texts.agents

type Token = Returned<'agents.tokens'>[number]
type Props = { token: Token; owner: Input<'agents.tokens'> }

export function TokenKeys({ token, owner }: Props) {
  const [isOpen, setOpen] = useState(false)
  const { keys, environment, label } = token
  const isDue = keys.length === 0 || keys.some(({ isOfNow }) => !isOfNow)
  // One of all environments lacks those that were made after it.
  const mayLack = isDue || environment === null
  return (
    <>
      <p className={isDue ? 'small' : 'soft small'}>{heldIn(keys)}</p>
      {mayLack ? (
        <div>
          <Button
            aria-expanded={isOpen}
            aria-label={words.giveKeysTo(label)}
            onPress={() => setOpen(!isOpen)}
          >
            {words.giveKeys}
          </Button>
        </div>
      ) : null}
      {isOpen ? <Lacking token={token} owner={owner} close={() => setOpen(false)} /> : null}
    </>
  )
}

function heldIn(keys: Token['keys']): string {
  if (keys.length === 0) return words.noKeys
  const places = keys.map(({ project, environment, isOfNow }) => {
    const place = words.inPlace(project ?? words.deleted, environment)
    return isOfNow ? place : words.oldKey(place)
  })
  return `${words.holds} ${places.join(', ')}`
}

function Lacking({ token, owner, close }: Props & { close(): void }) {
  const about = { ...owner, tokenId: token.id }
  const { data, error } = useAsk('agents.lacking', about)
  const give = useCommand('agents.give', { changes: ['agents.lacking', 'agents.tokens'] })
  if (error) return <FailureNote error={error} />
  if (!data) return <Loading />
  if (data.length === 0) return <p role="status">{words.lacksNone}</p>
  const submit = () =>
    give.mutate(
      { ...about, places: data.map(({ projectId, environment }) => ({ projectId, environment })) },
      {
        onSuccess: () => {
          say(words.given(token.label, data.length))
          close()
        },
      },
    )
  return (
    <Banner>
      <p>{words.lacks}</p>
      <ul>
        {data.map(({ projectId, project, environment, hadEarlier }) => (
          <li key={`${projectId} ${environment}`}>
            <strong>{words.inPlace(project, environment)}</strong>:{' '}
            {hadEarlier ? words.lacksOld : words.lacksNew}
          </li>
        ))}
      </ul>
      <p>{words.giving}</p>
      <div className="row">
        <Button kind="primary" isPending={give.isPending} onPress={submit}>
          {words.give(data.length)}
        </Button>
        <Button onPress={close}>{texts.common.cancel}</Button>
      </div>
      {give.error ? <FailureNote error={give.error} /> : null}
    </Banner>
  )
}
