/** An invitation: compares the workspace's history with the link of the inviter before anything is accepted. */
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { MailOpen, ShieldCheck } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import type { Returned } from '../../keys/messages.ts'
import { Button } from '../../parts/button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { LinkButton } from '../../parts/link_button.tsx'
import { Banner } from '../../parts/page/banner.tsx'
import { Card } from '../../parts/page/card.tsx'
import { Facts } from '../../parts/page/facts.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { Proof } from '../../parts/page/proof.tsx'
import { Screen } from '../../parts/page/screen.tsx'
import { SkeletonRows } from '../../parts/page/skeleton.tsx'
import { CopyButton } from '../../parts/show/copy.tsx'
import { useAsk, useCommand } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { Fingerprint } from '../members/fingerprint.tsx'
import { type InvitationLink, readInvitationLink } from './link.ts'

const route = getRouteApi('/invitation')
const words = texts.workspaces.invitation

export function Invitation() {
  const { workspace } = route.useSearch()
  const [link] = useState(() => readInvitationLink(location.hash))
  const workspaceId = link?.workspace ?? workspace
  return (
    <Screen title={words.title} isPage>
      <div className="flex max-w-160 flex-col gap-4">
        {workspaceId === undefined ? (
          <Banner kind="warning">{words.notALink}</Banner>
        ) : (
          <Checked workspaceId={workspaceId} link={link} />
        )}
      </div>
    </Screen>
  )
}

type Props = { workspaceId: string; link: InvitationLink | null }

function Checked({ workspaceId, link }: Props) {
  const expected = link ? { first: link.first, inviter: link.by } : null
  const asked = useAsk('workspaces.invitation', { workspaceId, expected })
  const { data, error } = asked
  if (error) return <FailureNote error={error} />
  if (!data) return <SkeletonRows count={3} height={56} />
  const { own, found } = data
  if (found && found.status !== 'invited') {
    return <Joined workspaceId={workspaceId} name={found.name} />
  }
  const inviter = link?.by ?? words.someone
  return (
    <>
      {found ? (
        <Found workspaceId={workspaceId} found={found} expected={expected} />
      ) : (
        <Card
          title={words.none}
          description={words.noneHelp(inviter)}
          action={
            <Button kind="primary" isPending={asked.isFetching} onPress={() => asked.refetch()}>
              {words.again}
            </Button>
          }
        >
          {link && link.server !== location.origin ? (
            <Banner kind="warning">{words.otherServer(link.server)}</Banner>
          ) : null}
        </Card>
      )}
      <OwnCard own={own} inviter={inviter} />
    </>
  )
}

function Joined({ workspaceId, name }: { workspaceId: string; name: string }) {
  return (
    <Card
      title={words.isMember(name)}
      action={
        <LinkButton kind="primary" to="/w/$workspaceId" params={{ workspaceId }}>
          {words.open}
        </LinkButton>
      }
    />
  )
}

function OwnCard({ own, inviter }: { own: Admin; inviter: string }) {
  return (
    <Card title={words.own} description={words.ownHelp(inviter)}>
      <Fingerprint text={own.fingerprint} />
      <Facts
        rows={[[words.account, <CopyButton key="email" text={own.email} name={words.account} />]]}
      />
    </Card>
  )
}

type FoundWorkspace = NonNullable<Returned<'workspaces.invitation'>['found']>
type Expected = { first: string; inviter: string } | null
type Admin = { email: string; fingerprint: string }

type FoundProps = { workspaceId: string; found: FoundWorkspace; expected: Expected }

function Found({ workspaceId, found, expected }: FoundProps) {
  const { name, role, by } = found
  return (
    <Card title={words.to(name)} description={words.as(texts.members.asRoles[role])}>
      <Verdict isSigned={by !== null} expected={expected} />
      {by === null ? null : (
        <People first={found.first ?? ''} by={by} isCompared={expected !== null} />
      )}
      <Answer workspaceId={workspaceId} expected={expected} seen={found.seen ?? null} />
    </Card>
  )
}

function Verdict({ isSigned, expected }: { isSigned: boolean; expected: Expected }): ReactNode {
  if (!isSigned) return <Banner kind="warning">{words.plain}</Banner>
  if (!expected) return <Banner kind="warning">{words.unchecked}</Banner>
  return (
    <p className="flex gap-2 text-green">
      <span className="flex h-5 items-center">
        <Icon of={ShieldCheck} />
      </span>
      {words.matches(expected.inviter)}
    </p>
  )
}

/** Without a link, the person compares the fingerprint themselves, so it is in view. */
function People({
  first,
  by,
  isCompared,
}: {
  first: string
  by: readonly Admin[]
  isCompared: boolean
}) {
  return (
    <>
      {isCompared ? null : <Fingerprint text={first} />}
      <Facts rows={[[words.by, by.map(({ email }) => email).join(', ')]]} />
      <Proof label={words.fingerprints}>
        <Facts
          rows={[
            [words.first, <code key="first">{first}</code>],
            ...by.map(
              ({ email, fingerprint }) => [email, <code key={email}>{fingerprint}</code>] as const,
            ),
          ]}
        />
      </Proof>
    </>
  )
}

type AnswerProps = { workspaceId: string; expected: Expected; seen: string | null }

function Answer({ workspaceId, expected, seen }: AnswerProps) {
  const navigate = useNavigate()
  // Leaves the invitation as it was read: reading it again would show that the person is a member.
  const changes = ['workspaces.list'] as const
  const accept = useCommand('workspaces.accept', { changes })
  const decline = useCommand('workspaces.decline', { changes })
  const open = () => void navigate({ to: '/w/$workspaceId', params: { workspaceId } })
  const leave = () => void navigate({ to: '/workspaces' })
  return (
    <>
      <div className="flex gap-2">
        <Button
          kind="primary"
          icon={MailOpen}
          isPending={accept.isPending}
          onPress={() => accept.mutate({ workspaceId, expected, seen }, { onSuccess: open })}
        >
          {words.accept}
        </Button>
        <Button
          kind="ghost"
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
