/** The people of a workspace: who they are by their keys, inviting, roles, removing, and a new key after it. */
import { getRouteApi } from '@tanstack/react-router'
import encode from 'qr'
import { useMemo, useState } from 'react'
import type { Role } from '../../../../core/grant.ts'
import { mayChangeMember } from '../../../../sigchain/member_rules.ts'
import { Button } from '../../parts/button.tsx'
import { TextField } from '../../parts/fields/text_field.tsx'
import { Menu } from '../../parts/overlays/menu.tsx'
import { EmptyState } from '../../parts/page/empty_state.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { Loading } from '../../parts/page/loading.tsx'
import { CopyButton } from '../../parts/show/copy.tsx'
import { DataTable, type TableColumn } from '../../parts/table.tsx'
import { useAsk, useCommand } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { linkOf } from '../workspaces/link.ts'
import { WorkspaceNotices } from '../workspaces/notices.tsx'
import { EndingDialog, type EndingTokens, type ListedMember } from './ending.tsx'
import { InvitePanel } from './invite.tsx'
import { Rekey } from './rekey.tsx'

const route = getRouteApi('/w/$workspaceId/members')
const words = texts.members

export function Members() {
  const { workspaceId } = route.useParams()
  const { data, error } = useAsk('members.list', { workspaceId })
  const [ending, setEnding] = useState<EndingTokens | null>(null)
  const columns = useMemo(
    () => columnsFor(data?.ownRole ?? 'read_only', setEnding),
    [data?.ownRole],
  )
  if (error) {
    return (
      <section className="stack">
        <h1>{words.title}</h1>
        <FailureNote error={error} />
      </section>
    )
  }
  if (!data) return <Loading />
  const { members, ownRole, isSigned, isRekeyDue } = data
  const manages = ownRole === 'owner' || ownRole === 'admin'
  return (
    <section className="stack">
      <h1>{words.title}</h1>
      <WorkspaceNotices workspaceId={workspaceId} />
      {manages ? <Rekey workspaceId={workspaceId} isSigned={isSigned} isDue={isRekeyDue} /> : null}
      <DataTable
        label={words.title}
        columns={columns}
        rows={members}
        idOf={({ userId }) => userId}
        isCards
      />
      {members.length === 1 ? (
        <EmptyState title={words.alone} command={words.aloneCommand}>
          <p>{words.aloneHelp}</p>
        </EmptyState>
      ) : null}
      {manages ? (
        <InvitePanel workspaceId={workspaceId} ownRole={ownRole} members={members} />
      ) : null}
      {manages && isSigned ? <InvitationLinkPanel workspaceId={workspaceId} /> : null}
      {ending ? (
        <EndingDialog workspaceId={workspaceId} ending={ending} onClose={() => setEnding(null)} />
      ) : null}
    </section>
  )
}

function columnsFor(
  ownRole: ListedMember['role'],
  end: (ending: EndingTokens) => void,
): readonly TableColumn<ListedMember>[] {
  return [
    {
      id: 'email',
      header: words.email,
      isRowHeader: true,
      sortBy: ({ email }) => email,
      cell: ({ email, isOwn }) => (
        <>
          {email} {isOwn ? <span className="soft">({words.you})</span> : null}
        </>
      ),
    },
    {
      id: 'role',
      header: words.role,
      sortBy: ({ role }) => role,
      cell: (member) => <RoleChoice member={member} ownRole={ownRole} onChoose={end} />,
    },
    {
      id: 'status',
      header: words.status,
      cell: ({ status }) => words.statuses[status ?? 'invited'],
    },
    {
      id: 'fingerprint',
      header: words.fingerprint,
      cell: ({ fingerprint }) =>
        fingerprint === null ? (
          words.unusableKeys
        ) : (
          <code className="fingerprint">{fingerprint}</code>
        ),
    },
    {
      id: 'actions',
      header: words.actions,
      cell: (member) => <MemberActions member={member} ownRole={ownRole} onRemove={end} />,
    },
  ]
}

const invitationLinkWords = texts.members.link

function InvitationLinkPanel({ workspaceId }: { workspaceId: string }) {
  const [server, setServer] = useState(location.origin)
  const make = useCommand('workspaces.invitationLink')
  const link = make.data && URL.canParse(server) ? linkOf({ ...make.data, server }) : null
  return (
    <section className="stack" aria-labelledby="link">
      <h2 id="link">{invitationLinkWords.title}</h2>
      <p className="soft">{invitationLinkWords.what}</p>
      {make.data ? (
        <TextField label={invitationLinkWords.server} value={server} onChange={setServer} mono />
      ) : (
        <div>
          <Button isPending={make.isPending} onPress={() => make.mutate({ workspaceId })}>
            {invitationLinkWords.make}
          </Button>
        </div>
      )}
      {make.error ? <FailureNote error={make.error} /> : null}
      {link ? (
        <>
          <CopyButton text={link} name={invitationLinkWords.theLink} />
          <QrCode text={link} name={invitationLinkWords.code} />
        </>
      ) : null}
    </section>
  )
}

const MARGIN = 4

function QrCode({ text, name }: { text: string; name: string }) {
  const rows = encode(text, 'raw', { border: MARGIN })
  const dark = rows.flatMap((row, y) =>
    row.flatMap((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : [])),
  )
  return (
    <svg
      className="qr"
      role="img"
      aria-label={name}
      viewBox={`0 0 ${rows.length} ${rows.length}`}
      shapeRendering="crispEdges"
    >
      <path d={dark.join('')} />
    </svg>
  )
}

const rowWords = texts.members
const roles: readonly Role[] = ['owner', 'admin', 'member', 'read_only']

type Props = { member: ListedMember; ownRole: Role }

function RoleChoice({
  member,
  ownRole,
  onChoose,
}: Props & { onChoose(ending: EndingTokens): void }) {
  const { role: from, email } = member
  const possible = roles.filter(
    (to) => to !== from && mayChangeMember(ownRole, { kind: 'set_role', from, to }),
  )
  if (possible.length === 0) return rowWords.roles[from]
  const choices = possible.map((role) => ({
    id: role,
    label: rowWords.roles[role],
    act: () => onChoose({ member, role }),
  }))
  const shown = rowWords.roles[from]
  return <Menu label={`${shown} ▾`} name={rowWords.roleOf(email, shown)} choices={choices} />
}

function MemberActions({
  member,
  ownRole,
  onRemove,
}: Props & { onRemove(ending: EndingTokens): void }) {
  const { role: from, isOwn, status, email } = member
  if (!mayChangeMember(ownRole, { kind: 'remove', from, self: isOwn })) return null
  const other = status === 'invited' ? rowWords.withdraw : rowWords.remove
  return (
    <Button
      kind="ghost"
      aria-label={isOwn ? rowWords.leave : rowWords.removeNamed(email)}
      onPress={() => onRemove({ member, role: null })}
    >
      {isOwn ? rowWords.leave : other}
    </Button>
  )
}
