/** The tokens of an agent, or of a project's workloads, in words. */

import { limitsInWords } from '../../../../client/agents/limits_in_words.ts'
import type { Input, Returned } from '../../keys/messages.ts'
import { FailureNote } from '../../parts/page/failure.tsx'
import { Loading } from '../../parts/page/loading.tsx'
import { dateOf } from '../../parts/show/moments.ts'
import { useAsk } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { TokenKeys } from './keys.tsx'
import { Revoke } from './revoke.tsx'

const words = texts.agents

type Owner = Input<'agents.tokens'>
type Token = Returned<'agents.tokens'>[number]
type Props = {
  owner: Owner
  /** Whose they are. */
  name: string
  /** Null for the whole workspace. */
  project: string | null
  none: string
}

export function Tokens({ none, ...props }: Props) {
  const { data, error } = useAsk('agents.tokens', props.owner)
  if (error) return <FailureNote error={error} />
  if (!data) return <Loading />
  const ended = data.filter(({ status }) => status !== 'active')
  const working = data.filter(({ status }) => status === 'active')
  return (
    <>
      {data.length === 0 ? <p className="soft">{none}</p> : null}
      {working.length > 0 ? <List tokens={working} {...props} /> : null}
      {ended.length > 0 ? (
        <details>
          <summary className="soft">{words.ended(ended.length)}</summary>
          <List tokens={ended} {...props} />
        </details>
      ) : null}
    </>
  )
}

function List({ tokens, ...props }: Omit<Props, 'none'> & { tokens: readonly Token[] }) {
  return (
    <ul className="entries">
      {tokens.map((token) => (
        <Row key={token.id} token={token} {...props} />
      ))}
    </ul>
  )
}

function Row({ token, owner, name, project }: Omit<Props, 'none'> & { token: Token }) {
  const { label, status, fault, differs } = token
  const place = token.project === undefined ? project : token.project
  const isActive = status === 'active'
  const limits = isActive ? limitsInWords(token) : null
  return (
    <li className="entry">
      <div className="card-head">
        <strong>{label}</strong>
        <span className={isActive ? 'badge badge-good' : 'badge'}>{words.statuses[status]}</span>
        <span>{words.summary(token.capabilities, words.inPlace(place, token.environment))}</span>
        <span className="space" />
        {isActive ? <Revoke tokenId={token.id} label={label} owner={owner} name={name} /> : null}
      </div>
      <p className="soft small">{timesOf(token)}</p>
      {limits ? <p className="soft small">{limits.join(' · ')}</p> : null}
      {isActive && !fault ? <TokenKeys token={token} owner={owner} /> : null}
      {fault ? <p className="field-error">{words.doesNotHold(fault)}</p> : null}
      {differs ? <p className="field-error">{words.differs}</p> : null}
    </li>
  )
}

function timesOf({ expiresAt, lastUsedAt, createdAt, by }: Token): string {
  return [
    lastUsedAt ? words.used(dateOf(lastUsedAt)) : words.unused,
    expiresAt ? words.ends(dateOf(expiresAt)) : words.noEnd,
    words.made(dateOf(createdAt)),
    by ? words.signedBy(by) : null,
  ]
    .filter(Boolean)
    .join(' · ')
}
