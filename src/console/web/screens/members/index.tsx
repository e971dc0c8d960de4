/** The people of a workspace: who they are by their keys, inviting, roles, removing, and a new key after it. */
import { getRouteApi } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { EmptyState } from '../../parts/states/empty_state.tsx'
import { FailureNote } from '../../parts/states/failure.tsx'
import { Loading } from '../../parts/states/loading.tsx'
import { DataTable, type TableColumn } from '../../parts/table.tsx'
import { useAsk } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { Notices } from '../workspaces/notices.tsx'
import { EndingDialog, type EndingTokens, type ListedMember } from './ending.tsx'
import { InvitationLinkPanel } from './invitation_link.tsx'
import { InvitePanel } from './invite.tsx'
import { Rekey } from './rekey.tsx'
import { MemberActions, RoleChoice } from './row.tsx'

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
      <Notices workspaceId={workspaceId} />
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
