/** The environments whose keys a token has, and a button that adds missing keys. */
import type { Input } from '../../../keys/messages.ts'
import { Button } from '../../../parts/button.tsx'
import { Dialog, DialogFooter } from '../../../parts/overlays/dialog.tsx'
import { say } from '../../../parts/overlays/toasts.tsx'
import { FailureNote } from '../../../parts/page/failure.tsx'
import { SkeletonRows } from '../../../parts/page/skeleton.tsx'
import { useAsk, useCommand } from '../../../queries.ts'
import { texts } from '../../../texts/index.ts'
import type { AgentToken } from '../place.ts'

const words = texts.agents

/** Shown only if the keys differ from the scope: several environments, no key, or an old key. */
export function keyRow({ keys, environment }: AgentToken): (readonly [string, string])[] {
  const isExpected = keys.length === 1 && environment !== null && keys[0]?.isCurrent
  if (isExpected) return []
  const places = keys.map(({ project, environment, isCurrent }) => {
    const place = words.inPlace(project ?? words.deleted, environment)
    return isCurrent ? place : words.oldKey(place)
  })
  return [[words.holds, places.length === 0 ? words.noKeys : places.join(', ')]]
}

type Props = { token: AgentToken; owner: Input<'agents.tokens'>; onClose(): void }

export function MissingKeys({ token, owner, onClose }: Props) {
  const about = { ...owner, tokenId: token.id }
  const { data, error } = useAsk('agents.lacking', about, 0)
  return (
    <Dialog title={words.lacksTitle(token.label)} isOpen onClose={onClose}>
      {error ? <FailureNote error={error} /> : null}
      {data ? (
        <Lacking {...{ token, about, onClose, places: data }} />
      ) : error ? null : (
        <SkeletonRows count={2} />
      )}
    </Dialog>
  )
}

type LackingProps = Pick<Props, 'token' | 'onClose'> & {
  about: Input<'agents.lacking'>
  places: readonly {
    projectId: string
    project: string
    environment: string
    hadEarlier: boolean
  }[]
}

function Lacking({ token, about, onClose, places }: LackingProps) {
  const give = useCommand('agents.give', {
    changes: ['agents.lacking', 'agents.tokens', 'agents.all'],
  })
  if (places.length === 0) return <p>{words.lacksNone}</p>
  const named = places.map(({ projectId, environment }) => ({ projectId, environment }))
  const submit = () =>
    give.mutate(
      { ...about, places: named },
      {
        onSuccess: () => {
          say(words.given(token.label, places.length))
          onClose()
        },
      },
    )
  return (
    <>
      <p>{words.lacks}</p>
      <ul className="flex flex-col gap-1">
        {places.map(({ projectId, project, environment, hadEarlier }) => (
          <li key={`${projectId} ${environment}`}>
            <b className="font-medium">{words.inPlace(project, environment)}</b>{' '}
            <span className="text-ink-2">{hadEarlier ? words.lacksOld : words.lacksNew}</span>
          </li>
        ))}
      </ul>
      {give.error ? <FailureNote error={give.error} /> : null}
      <DialogFooter>
        <Button onPress={onClose}>{texts.common.cancel}</Button>
        <Button kind="primary" isPending={give.isPending} onPress={submit}>
          {words.give(places.length)}
        </Button>
      </DialogFooter>
    </>
  )
}
