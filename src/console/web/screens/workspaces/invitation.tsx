/** An invitation: the history behind it is held against the link that the inviter sent, before anything is accepted. */
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { Returned } from '../../keys/messages.ts'
import { Button } from '../../parts/button.tsx'
import { Banner } from '../../parts/page/banner.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { Loading } from '../../parts/page/loading.tsx'
import { CopyButton } from '../../parts/show/copy.tsx'
import { useAsk, useCommand } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { type InvitationLink, readInvitationLink } from './link.ts'

const route = getRouteApi('/invitation')
const words = texts.workspaces.invitation

export function Invitation() {
  const { workspace } = route.useSearch()
  const [link] = useState(() => readInvitationLink(location.hash))
  const workspaceId = link?.workspace ?? workspace
  return (
    <section className="stack">
      <h1>{words.title}</h1>
      {workspaceId === undefined ? (
        <Banner kind="warning">{words.notALink}</Banner>
      ) : (
        <Checked workspaceId={workspaceId} link={link} />
      )}
    </section>
  )
}

type Props = { workspaceId: string; link: InvitationLink | null }

function Checked({ workspaceId, link }: Props) {
  const expected = link ? { first: link.first, inviter: link.by } : null
  const asked = useAsk('workspaces.invitation', { workspaceId, expected })
  const { data, error } = asked
  if (error) return <FailureNote error={error} />
  if (!data) return <Loading />
  const { own, found } = data
  return (
    <>
      {found ? (
        <Found workspaceId={workspaceId} found={found} expected={expected} />
      ) : (
        <>
          <p className="empty-title">{words.none}</p>
          {link && link.server !== location.origin ? <p>{words.otherServer(link.server)}</p> : null}
          <p>{words.noneHelp(link?.by ?? words.someone)}</p>
          <div>
            <Button isPending={asked.isFetching} onPress={() => asked.refetch()}>
              {words.again}
            </Button>
          </div>
        </>
      )}
      <p>
        {words.own}{' '}
        <CopyButton text={`${own.email} ${own.fingerprint}`} name={texts.members.fingerprint} />
      </p>
    </>
  )
}

type FoundWorkspace = NonNullable<Returned<'workspaces.invitation'>['found']>
type Expected = { first: string; inviter: string } | null

function Found({
  workspaceId,
  found,
  expected,
}: {
  workspaceId: string
  found: FoundWorkspace
  expected: Expected
}) {
  const { name, role, status, by } = found
  if (status !== 'invited') {
    return (
      <p>
        {words.isMember(name)}{' '}
        <Link to="/w/$workspaceId" params={{ workspaceId }}>
          {words.open}
        </Link>
      </p>
    )
  }
  return (
    <>
      <p className="empty-title">{words.to(name, texts.members.roles[role])}</p>
      {by === null ? <Banner kind="warning">{words.plain}</Banner> : null}
      {by !== null && expected ? (
        <Banner kind="good">{words.matches(expected.inviter)}</Banner>
      ) : null}
      {by !== null && !expected ? <Banner kind="warning">{words.unchecked}</Banner> : null}
      {by === null ? null : <Facts first={found.first ?? ''} by={by} />}
      <Answer workspaceId={workspaceId} expected={expected} seen={found.seen ?? null} />
    </>
  )
}

type Admin = { email: string; fingerprint: string }

function Facts({ first, by }: { first: string; by: readonly Admin[] }) {
  return (
    <dl className="facts">
      <dt>{words.first}</dt>
      <dd>
        <code className="fingerprint">{first}</code>
      </dd>
      <dt>{words.by}</dt>
      {by.map(({ email, fingerprint }) => (
        <dd key={email}>
          {email} <code className="fingerprint">{fingerprint}</code>
        </dd>
      ))}
    </dl>
  )
}

type AnswerProps = { workspaceId: string; expected: Expected; seen: string | null }

function Answer({ workspaceId, expected, seen }: AnswerProps) {
  const navigate = useNavigate()
  // The invitation itself is left as it was: who reads it again here would not be led on.
  const changes = ['workspaces.list'] as const
  const accept = useCommand('workspaces.accept', { changes })
  const decline = useCommand('workspaces.decline', { changes })
  const open = () => void navigate({ to: '/w/$workspaceId', params: { workspaceId } })
  const leave = () => void navigate({ to: '/' })
  return (
    <>
      <div className="row">
        <Button
          kind="primary"
          isPending={accept.isPending}
          onPress={() => accept.mutate({ workspaceId, expected, seen }, { onSuccess: open })}
        >
          {words.accept}
        </Button>
        <Button
          isPending={decline.isPending}
          onPress={() => decline.mutate({ workspaceId }, { onSuccess: leave })}
        >
          {words.decline}
        </Button>
      </div>
      {accept.error ? <FailureNote error={accept.error} /> : null}
      {decline.error ? <FailureNote error={decline.error} /> : null}
    </>
  )
}
