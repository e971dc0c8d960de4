/** Who could have seen the secret that is looked for: people and tokens that had a key to it. */
import type { Returned } from '../../keys/messages.ts'
import { FailureNote } from '../../parts/page/failure.tsx'
import { Loading } from '../../parts/page/loading.tsx'
import { useAsk } from '../../queries.ts'
import { texts } from '../../texts/index.ts'

const words = texts.audit.seen
const dates = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
const dateOf = (text: string) => dates.format(new Date(text))

type Props = { workspaceId: string; environment: string | null }

export function SeenBy({ workspaceId, environment }: Props) {
  const { data, error } = useAsk('history.seen', { workspaceId, environment })
  return (
    <section className="stack" aria-labelledby="seen">
      <h2 id="seen">{words.title}</h2>
      <p className="soft">{words.what}</p>
      {error ? <FailureNote error={error} /> : null}
      {data ? null : error ? null : <Loading />}
      {data ? (
        <>
          <h3>{words.members}</h3>
          <ul>
            {data.people.map(({ userId, email, from, to }) => (
              <li key={`${userId} ${from}`}>
                {email}{' '}
                <span className="soft">
                  {to === null ? words.from(dateOf(from)) : words.between(dateOf(from), dateOf(to))}
                </span>
              </li>
            ))}
          </ul>
          {data.rekeys.length > 0 ? <h3>{words.rekeys}</h3> : null}
          <ul>
            {data.rekeys.map(({ epoch, at, by }) => (
              <li key={epoch}>{words.rekey(epoch, dateOf(at), by)}</li>
            ))}
          </ul>
          <h3>{words.tokens}</h3>
          {data.tokens.length === 0 ? <p>{words.noTokens}</p> : null}
          <ul>
            {data.tokens.map((token) => (
              <li key={token.id}>
                {token.label} <code>{token.id}</code>{' '}
                <span className="soft">{aboutToken(token)}</span>
              </li>
            ))}
          </ul>
          <p className="soft">{words.unknown}</p>
        </>
      ) : null}
    </section>
  )
}

type Token = Returned<'history.seen'>['tokens'][number]

function aboutToken({ environments, mayRead, after, to, fault }: Token): string {
  if (fault !== null) return words.doesNotHold(fault)
  return [
    environments.length === 0 ? words.everyEnvironment : environments.join(', '),
    mayRead ? words.mayRead : words.mayUse,
    ...(after === null ? [] : [words.after(dateOf(after))]),
    ...(to === null ? [] : [words.until(dateOf(to))]),
  ].join('; ')
}
