/** What a secret was before: looked at one by one, and made the newest again. */
import { useState } from 'react'
import { ask } from '../../../keys/ask.ts'
import type { Input, Returned } from '../../../keys/messages.ts'
import { ConfirmButton } from '../../../parts/overlays/confirm.tsx'
import { say } from '../../../parts/overlays/toasts.tsx'
import { FailureNote } from '../../../parts/page/failure.tsx'
import { Loading } from '../../../parts/page/loading.tsx'
import { SecretValue } from '../../../parts/show/secret_value.tsx'
import { useAsk, useCommand } from '../../../queries.ts'
import { texts } from '../../../texts/index.ts'
import { CHANGED, useMayHere } from '../place.ts'

const words = texts.secrets

type Place = Input<'versions.list'>
type Version = Returned<'versions.list'>[number]

export function Versions({ place }: { place: Place }) {
  const { data, error } = useAsk('versions.list', place)
  if (error) return <FailureNote error={error} />
  if (!data) return <Loading />
  return (
    <ul className="plain-list stack" aria-label={words.versionsOf}>
      {data.map((version) => (
        <li key={version.version} className="stack">
          <OneVersion place={place} version={version} />
        </li>
      ))}
    </ul>
  )
}

function OneVersion({ place, version: shown }: { place: Place; version: Version }) {
  const { version, by, createdAt, words: policy, isNow, isReadable, isSame } = shown
  const [failed, setFailed] = useState<unknown>(null)
  const writes = useMayHere('secret.write')
  const rollBack = useCommand('versions.rollBack', { changes: CHANGED })
  const name = `${place.key}, ${words.version} ${version}`
  const act = async () => {
    await rollBack.mutateAsync({ ...place, version })
    say(words.rolledBack(place.key, version))
  }
  return (
    <>
      <div>
        <strong>{`${words.version} ${version}`}</strong>{' '}
        <span className="soft">
          {isNow ? `${words.now} · ` : isSame ? `${words.sameAsNow} · ` : ''}
          {`${by ?? words.gone} · ${new Date(createdAt).toLocaleString()}`}
        </span>
        {policy ? <p className="soft small">{policy}</p> : null}
      </div>
      {isReadable ? (
        <SecretValue
          name={name}
          read={() => ask('versions.reveal', { ...place, version })}
          onError={setFailed}
        />
      ) : (
        <p className="soft">{words.unreadable}</p>
      )}
      {failed ? <FailureNote error={failed} /> : null}
      {writes && isReadable && !isNow && !isSame ? (
        <div>
          <ConfirmButton
            verb={words.rollBack}
            title={words.rollBackTitle(place.key, version)}
            onConfirm={act}
          >
            <p>{words.rollBackLoss(policy)}</p>
          </ConfirmButton>
        </div>
      ) : null}
    </>
  )
}
