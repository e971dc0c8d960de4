/** All of a call that will be sent. Secrets are placeholders and names, and what an agent wrote is named as that. */
import { type ReactNode, useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { texts } from '../../texts/index.ts'
import { callAddress, type Request } from './waiting.ts'

const words = texts.waiting

/** Characters of a body that are shown at first. */
const MAX_SHOWN = 1_000

export function CallDetails({ request }: { request: Request }) {
  const { method, query, headers, secrets, reason } = request
  return (
    <>
      <p>
        <strong>
          <code>
            {method} {callAddress(request)}
          </code>
        </strong>
      </p>
      <dl className="waiting-facts">
        <Pairs label={words.query} pairs={query} />
        <Pairs label={words.headers} pairs={headers} />
        <Fact label={words.body}>
          <Body body={request.body} />
        </Fact>
        <Fact label={words.secrets}>
          <ul className="plain-list">
            {secrets.map(({ key, project, environment, by }) => (
              <li key={`${project} ${environment} ${key}`}>
                {words.secret(key, project, environment)}
                {by === null ? null : <span className="soft"> {words.needs[by]}</span>}
              </li>
            ))}
          </ul>
        </Fact>
        <Fact label={words.reason}>{reason ?? words.noReason}</Fact>
      </dl>
    </>
  )
}

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function Pairs({ label, pairs }: { label: string; pairs: Request['headers'] }) {
  if (pairs.length === 0) return null
  const lines = pairs.map(({ name, value }) => words.pair(name, value))
  return (
    <Fact label={label}>
      <pre>{lines.join('\n')}</pre>
    </Fact>
  )
}

function Body({ body: { kind, type, bytes, text } }: Pick<Request, 'body'>) {
  const [isWhole, setWhole] = useState(text.length <= MAX_SHOWN)
  return (
    <>
      <span>{kind === 'text' ? words.bodySize(type, bytes) : words.bodies[kind]}</span>
      {kind === 'unshown' ? <span> {words.bodySize(type, bytes)}</span> : null}
      {kind === 'text' ? <pre>{isWhole ? text : text.slice(0, MAX_SHOWN)}</pre> : null}
      {isWhole ? null : <Button onPress={() => setWhole(true)}>{words.wholeBody}</Button>}
    </>
  )
}
