/** The account's sessions. Sessions that are signed out here stay listed, so that no row moves. */
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
/** A session that is signed out here; `isDone` once the server has done so. */
type Ended = { session: Session; isDone: boolean }

export function SessionsCard() {
  const { data, error } = useAsk('credentials.sessions', null)
  const { ended, end, failure } = useEnding()
  const endedBy = new Map(ended.map((each) => [each.session.id, each]))
  const active = data?.filter(({ id }) => !endedBy.has(id)) ?? []
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
        {sortSessions([...active, ...ended.map(({ session }) => session)]).map((session) => (
          <SessionRow
            key={session.id}
            session={session}
            ended={endedBy.get(session.id)}
            end={() => end([session])}
          />
        ))}
      </ul>
      {failure ? <FailureNote error={failure} /> : null}
    </Card>
  )
}

function useEnding() {
  const [ended, setEnded] = useState<Ended[]>([])
  const command = useCommand('credentials.endSessions', { changes: ['credentials.sessions'] })
  const end = (sessions: Session[]) => {
    const isOther = ({ session }: Ended) => !sessions.includes(session)
    const setDone = (each: Ended) => (isOther(each) ? each : { ...each, isDone: true })
    setEnded((now) => [...now, ...sessions.map((session) => ({ session, isDone: false }))])
    command.mutateAsync({ ids: sessions.map(({ id }) => id) }).then(
      () => setEnded((now) => now.map(setDone)),
      () => setEnded((now) => now.filter(isOther)),
    )
  }
  return { ended, end, failure: command.error }
}

/** This session first, then the newest. */
function sortSessions(sessions: readonly Session[]): Session[] {
  return sessions.toSorted(
    (one, other) =>
      Number(other.current) - Number(one.current) || other.created_at.localeCompare(one.created_at),
  )
}

type RowProps = { session: Session; ended: Ended | undefined; end(): void }

function SessionRow({ session, ended, end }: RowProps) {
  const { user_agent, current, created_at, last_used_at } = session
  const known = browserOf(user_agent)
  const name = known ? words.browser(known.browser, known.system) : user_agent || words.unknown
  return (
    <li className="flex min-h-14 items-center gap-3 py-2">
      <span className="text-ink-3">
        <Icon of={iconFor(known)} />
      </span>
      <div className="min-w-0 flex-1">
        <p className={`truncate font-medium ${ended ? 'text-ink-3' : ''}`} title={user_agent}>
          {name}
        </p>
        <p className="text-small text-ink-3">
          {words.since(dateOf(created_at))} · {words.used} <Ago at={last_used_at} />
        </p>
      </div>
      {current ? <Status tone="green">{words.current}</Status> : null}
      {ended ? <Status tone="neutral">{ended.isDone ? words.ended : words.ending}</Status> : null}
      {current || ended ? null : (
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
