/** People and tokens that had a key to the secret in the filter. */

import type { Returned } from '../../keys/messages.ts'
import { Facts } from '../../parts/page/facts.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { Inspector } from '../../parts/page/inspector.tsx'
import { Loading } from '../../parts/page/loading.tsx'
import { Proof } from '../../parts/page/proof.tsx'
import { InspectorSection } from '../../parts/page/section.tsx'
import { momentOf } from '../../parts/show/moments.ts'
import { useAsk } from '../../queries.ts'
import { texts, tokenName } from '../../texts/index.ts'

const words = texts.audit.seen

type Seen = Returned<'history.seen'>
type Props = { workspaceId: string; secret: string; environment: string | null; onClose(): void }

export function SeenBy({ workspaceId, secret, environment, onClose }: Props) {
  const { data, error } = useAsk('history.seen', { workspaceId, environment })
  return (
    <Inspector title={words.title(secret)} onClose={onClose}>
      {error ? (
        <div className="px-4">
          <FailureNote error={error} />
        </div>
      ) : null}
      {data || error ? null : <Loading />}
      {data ? <Lists {...data} /> : null}
    </Inspector>
  )
}

function Lists({ people, rekeys, tokens }: Seen) {
  return (
    <>
      <InspectorSection title={words.members}>
        <ul className="flex flex-col gap-1.5">
          {people.map(({ userId, email, from, to }) => (
            <Line key={`${userId} ${from}`} name={email} text={timeText(from, to)} />
          ))}
        </ul>
      </InspectorSection>
      {rekeys.length > 0 ? (
        <InspectorSection title={words.rekeys}>
          <Facts
            rows={rekeys.map(({ epoch, at, by }) => [
              words.epoch(epoch),
              words.rekey(momentOf(at), by),
            ])}
          />
        </InspectorSection>
      ) : null}
      <InspectorSection title={words.tokens}>
        {tokens.length === 0 ? <p className="text-ink-2">{words.noTokens}</p> : null}
        <ul className="flex flex-col gap-1.5">
          {tokens.map((token) => (
            <Line key={token.id} name={tokenName(token)} text={describeToken(token)}>
              <Proof>
                <code>{token.id}</code>
                {token.fault === null ? null : <p>{token.fault}</p>}
              </Proof>
            </Line>
          ))}
        </ul>
      </InspectorSection>
      <section className="border-t border-line px-4 py-3">
        <Proof label={words.limits}>
          <p>{words.unknown}</p>
        </Proof>
      </section>
    </>
  )
}

function Line(props: { name: string; text: string; children?: React.ReactNode }) {
  return (
    <li>
      <p className="truncate font-medium" title={props.name}>
        {props.name}
      </p>
      <p className="text-small text-ink-2">{props.text}</p>
      {props.children}
    </li>
  )
}

function timeText(from: string, to: string | null): string {
  return to === null ? words.from(momentOf(from)) : words.between(momentOf(from), momentOf(to))
}

function describeToken({
  environments,
  mayRead,
  after,
  to,
  fault,
}: Seen['tokens'][number]): string {
  if (fault !== null) return words.invalidGrant
  return [
    environments.length === 0 ? words.everyEnvironment : environments.join(', '),
    mayRead ? words.mayRead : words.mayUse,
    ...(after === null ? [] : [words.after(momentOf(after))]),
    ...(to === null ? [] : [words.until(momentOf(to))]),
  ].join(', ')
}
