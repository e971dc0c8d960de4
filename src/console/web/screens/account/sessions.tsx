/** Where the account is open, and the end of it elsewhere. */

import type { Returned } from '../../keys/messages.ts'
import { Button } from '../../parts/button.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { Loading } from '../../parts/page/loading.tsx'
import { dateOf } from '../../parts/show/moments.ts'
import { queryKey, useAsk, useCommand } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { browserOf } from './program.ts'
import { Section } from './section.tsx'

const words = texts.account.sessions

function nameOf(userAgent: string): string {
  const known = browserOf(userAgent)
  return known ? words.browser(known.browser, known.system) : userAgent || words.unknown
}

type Listed = Returned<'credentials.sessions'>

export function SessionsSection() {
  const { data, error } = useAsk('credentials.sessions', null)
  const end = useCommand('credentials.endSessions', {
    changes: ['credentials.sessions'],
    optimistic: ({ ids }) => ({
      key: queryKey('credentials.sessions', null),
      update: (before: Listed) => before.filter(({ id }) => !ids.includes(id)),
    }),
  })
  const others = data?.flatMap(({ id, current }) => (current ? [] : [id])) ?? []
  return (
    <Section title={words.title} what={words.what}>
      {error ? <FailureNote error={error} /> : null}
      {data ? null : <Loading />}
      <ul className="entries">
        {data?.map(({ id, user_agent, current, created_at, last_used_at }) => (
          <li key={id} className="entry row">
            <span>
              <span title={user_agent}>{nameOf(user_agent)}</span>{' '}
              {current ? <strong className="badge badge-good">{words.current}</strong> : null}
              <br />
              <span className="soft small">
                {words.dates(dateOf(created_at), dateOf(last_used_at))}
              </span>
            </span>
            {current ? null : (
              <Button
                kind="danger"
                aria-label={words.endNamed(nameOf(user_agent))}
                onPress={() => end.mutate({ ids: [id] })}
              >
                {words.end}
              </Button>
            )}
          </li>
        ))}
      </ul>
      {others.length > 1 ? (
        <div>
          <Button kind="danger" onPress={() => end.mutate({ ids: others })}>
            {words.endOthers(others.length)}
          </Button>
        </div>
      ) : null}
      {end.error ? <FailureNote error={end.error} /> : null}
    </Section>
  )
}
