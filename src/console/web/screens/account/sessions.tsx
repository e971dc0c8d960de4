/** Where the account is signed in. Sessions that are signed out here stay listed, so that no row moves. */
import { Monitor, Smartphone, Terminal } from 'lucide-react'
import { useState } from 'react'
import type { Returned } from '../../keys/messages.ts'
import { Button } from '../../parts/button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Card } from '../../parts/page/card.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { Ago } from '../../parts/show/ago.tsx'
import { dateOf } from '../../parts/show/moments.ts'
import { Status } from '../../parts/show/status.tsx'
import { useAsk, useCommand } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { browserOf } from './program.ts'

const words = texts.account.sessions

type Session = Returned<'credentials.sessions'>[number]

export function SessionsCard() {
  const { data, error } = useAsk('credentials.sessions', null)
  const { ended, end, failure } = useEnding()
  const isEnded = ({ id }: Session) => ended.some((session) => session.id === id)
  const active = data?.filter((session) => !isEnded(session)) ?? []
  const others = active.filter(({ current }) => !current)
  return (
    <Card
      title={words.title}
      description={words.description}
      action={
        others.length > 1 ? (
          <Button onPress={() => end(others)}>{words.endOthers(others.length)}</Button>
        ) : undefined
      }
    >
      {error ? <FailureNote error={error} /> : null}
      <ul
        aria-label={words.title}
        className="-my-2 flex flex-col divide-y divide-line empty:hidden"
      >
        {inOrder([...active, ...ended]).map((session) => (
          <SessionRow
            key={session.id}
            session={session}
            isEnded={isEnded(session)}
            end={() => end([session])}
          />
        ))}
      </ul>
      {failure ? <FailureNote error={failure} /> : null}
    </Card>
  )
}

function useEnding() {
  const [ended, setEnded] = useState<Session[]>([])
  const command = useCommand('credentials.endSessions', { changes: ['credentials.sessions'] })
  const end = (sessions: Session[]) => {
    setEnded([...ended, ...sessions])
    const ids = sessions.map(({ id }) => id)
    const restore = () => setEnded((now) => now.filter(({ id }) => !ids.includes(id)))
    command.mutate({ ids }, { onError: restore })
  }
  return { ended, end, failure: command.error }
}

/** This session first, then the newest. */
function inOrder(sessions: readonly Session[]): Session[] {
  return sessions.toSorted(
    (one, other) =>
      Number(other.current) - Number(one.current) || other.created_at.localeCompare(one.created_at),
  )
}

type RowProps = { session: Session; isEnded: boolean; end(): void }

function SessionRow({ session, isEnded, end }: RowProps) {
  const { user_agent, current, created_at, last_used_at } = session
  const known = browserOf(user_agent)
  const name = known ? words.browser(known.browser, known.system) : user_agent || words.unknown
  return (
    <li className="flex min-h-14 items-center gap-3 py-2">
      <span className="text-ink-3">
        <Icon of={iconFor(known)} />
      </span>
      <div className="min-w-0 flex-1">
        <p className={`truncate font-medium ${isEnded ? 'text-ink-3' : ''}`} title={user_agent}>
          {name}
        </p>
        <p className="text-small text-ink-3">
          {words.since(dateOf(created_at))} · {words.used} <Ago at={last_used_at} />
        </p>
      </div>
      {current ? <Status tone="green">{words.current}</Status> : null}
      {isEnded ? <Status tone="neutral">{words.ended}</Status> : null}
      {current || isEnded ? null : (
        <Button size="small" kind="ghost" aria-label={words.endNamed(name)} onPress={end}>
          {words.end}
        </Button>
      )}
    </li>
  )
}

function iconFor(known: ReturnType<typeof browserOf>) {
  if (!known) return Terminal
  return known.system === 'Android' || known.system === 'iOS' ? Smartphone : Monitor
}
