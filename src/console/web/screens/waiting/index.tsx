/** What waits for a person: requests to use held secrets, releases that can be revoked, and agents' proposals. */
import { useState } from 'react'
import type { Returned } from '../../keys/messages.ts'
import { FailureNote } from '../../parts/page/failure.tsx'
import { CopyButton } from '../../parts/show/copy.tsx'
import { useRepeatedAsk } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { HoldContext, useHeld } from '../live/hold.ts'
import { Proposals } from './proposals.tsx'
import { Released } from './released.tsx'
import { RequestCard } from './request.tsx'
import type { Waiting as Listed, Request } from './waiting.ts'

const words = texts.waiting

const EVERY_MS = 3_000

type Props = { workspaceId: string; isHeld: boolean }

export default function Waiting({ workspaceId, isHeld }: Props) {
  const { data, error } = useRepeatedAsk('approvals.waiting', { workspaceId }, EVERY_MS)
  if (data) return <Lists workspaceId={workspaceId} now={data} isHeld={isHeld} />
  return error ? <FailureNote error={error} /> : null
}

type ListsProps = { workspaceId: string; now: Listed; isHeld: boolean }

/** Nothing moves while a person points at a button: one press must not decide about another request. */
function Lists({ workspaceId, now, isHeld }: ListsProps) {
  const { shown, hold, pointing } = useHeld(now, isHeld)
  const [allowed, setAllowed] = useState<readonly Request[]>([])
  const requests = merged(shown.requests, allowed)
  const ids = new Set(requests.map(({ id }) => id))
  const released = shown.released.filter(({ id }) => !ids.has(id))
  const held = now.requests.filter(({ id }) => !ids.has(id)).length
  const isEmpty = requests.length + released.length + shown.proposals.length + shown.hidden === 0
  if (isEmpty) return null
  return (
    <HoldContext value={hold}>
      <section className="stack" aria-labelledby="waiting" {...pointing}>
        <h2 id="waiting">{words.title}</h2>
        {/* Always there, so that a number moves nothing. */}
        <p role="status" className="soft small">
          {held > 0 ? words.held(held) : words.newest}
        </p>
        <ul className="plain-list stack" aria-label={words.requests}>
          {requests.map((request) => (
            <RequestCard
              key={request.id}
              workspaceId={workspaceId}
              request={request}
              onAllowed={() => setAllowed((before) => merged(before, [request]))}
            />
          ))}
        </ul>
        <Unshown waiting={shown} />
        <Proposals workspaceId={workspaceId} proposals={shown.proposals} />
        <Released workspaceId={workspaceId} released={released} />
      </section>
    </HoldContext>
  )
}

/** Oldest first: IDs grow with time. A request that was allowed here keeps its place until the screen is left. */
function merged(some: readonly Request[], others: readonly Request[]): Request[] {
  const byId = new Map([...some, ...others].map((request) => [request.id, request]))
  return [...byId.values()].sort((one, other) => (one.id < other.id ? -1 : 1))
}

function Unshown({ waiting: { hidden, more } }: { waiting: Returned<'approvals.waiting'> }) {
  return (
    <>
      {more > 0 ? <p>{words.more(more)}</p> : null}
      {hidden > 0 ? (
        <p>
          {words.hidden(hidden)} {words.hiddenHelp}{' '}
          <CopyButton text={words.hiddenCommand} name={texts.common.theCommand} />
        </p>
      ) : null}
    </>
  )
}
