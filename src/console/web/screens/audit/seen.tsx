/** Who could have seen the secret that is looked for: people and tokens that had a key to it. */
import { FailureNote } from '../../parts/states/failure.tsx'
import { Loading } from '../../parts/states/loading.tsx'
import { useAsk } from '../../queries.ts'
import { texts } from '../../texts/index.ts'

const words = texts.audit.seen
const dates = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
const dateOf = (text: string) => dates.format(new Date(text))

type Props = { workspaceId: string; environment: string | null }

export function Seen({ workspaceId, environment }: Props) {
  const { data, error } = useAsk('audit.seen', { workspaceId, environment })
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
          <h3>{words.tokens}</h3>
          {data.tokens.length === 0 ? <p>{words.noTokens}</p> : null}
          <ul>
            {data.tokens.map(({ id, label, environments, mayRead }) => (
              <li key={id}>
                {label} <code>{id}</code> ({environments.join(', ')}):{' '}
                {mayRead ? words.mayRead : words.mayUse}
              </li>
            ))}
          </ul>
        </>
      ) : null}
    </section>
  )
}
