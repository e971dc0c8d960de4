/** Everything that a call will send. Secrets are placeholders and names, and the agent's own words are marked as such. */
import { type ReactNode, useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { Facts } from '../../parts/page/facts.tsx'
import { InspectorSection } from '../../parts/page/section.tsx'
import { texts } from '../../texts/index.ts'
import type { WaitingRequest } from '../../waiting.ts'

const words = texts.waiting

/** Characters of a body that are shown at first. */
const MAX_SHOWN = 1_000

export function CallDetails({ request }: { request: WaitingRequest }) {
  const { method, origin, path, query, headers, secrets, reason } = request
  return (
    <>
      <InspectorSection title={words.sent}>
        <p className="mb-2 font-mono text-mono wrap-anywhere">
          <b className="font-semibold">{method}</b> {`${origin}${path}`}
        </p>
        <div className="flex flex-col gap-2">
          <Pairs label={words.query} pairs={query} />
          <Pairs label={words.headers} pairs={headers} />
          <Block label={words.body}>
            <Body body={request.body} />
          </Block>
        </div>
      </InspectorSection>
      <InspectorSection title={words.secrets}>
        <ul className="flex flex-col gap-1">
          {secrets.map(({ key, project, environment, by }) => (
            <li key={`${project} ${environment} ${key}`}>
              {words.secret(key, project, environment)}
              {by === null ? null : <span className="text-ink-3"> {words.needs[by]}</span>}
            </li>
          ))}
        </ul>
        <div className="pt-2">
          <Facts rows={[[words.reason, reason ?? words.noReason]]} />
        </div>
      </InspectorSection>
    </>
  )
}

function Block({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div>
      <p className="text-small text-ink-3">{label}</p>
      {children}
    </div>
  )
}

function Lines({ text }: { text: string }) {
  return (
    <pre className="max-h-80 overflow-auto rounded-[8px] bg-surface-2 px-2.5 py-1.5 font-mono text-mono wrap-anywhere whitespace-pre-wrap">
      {text}
    </pre>
  )
}

function Pairs({ label, pairs }: { label: string; pairs: WaitingRequest['headers'] }) {
  if (pairs.length === 0) return null
  return (
    <Block label={label}>
      <Lines text={pairs.map(({ name, value }) => words.pair(name, value)).join('\n')} />
    </Block>
  )
}

function Body({ body: { kind, type, bytes, text } }: Pick<WaitingRequest, 'body'>) {
  const [isWhole, setWhole] = useState(text.length <= MAX_SHOWN)
  return (
    <div className="flex flex-col items-start gap-1">
      <p className="text-ink-2">
        {kind === 'text' ? null : `${words.bodies[kind]} `}
        {kind === 'text' || kind === 'unshown' ? words.bodySize(type, bytes) : null}
      </p>
      {kind === 'text' ? (
        <div className="w-full">
          <Lines text={isWhole ? text : text.slice(0, MAX_SHOWN)} />
        </div>
      ) : null}
      {isWhole ? null : (
        <Button size="small" onPress={() => setWhole(true)}>
          {words.wholeBody}
        </Button>
      )}
    </div>
  )
}
