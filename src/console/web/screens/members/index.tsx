/** The members of a workspace: roles, fingerprints, invitations and removal. */
import { KeyRound, UserPlus } from 'lucide-react'
import { type ComponentProps, useMemo, useState } from 'react'
import type { AskError } from '../../keys/ask.ts'
import { Button } from '../../parts/button.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { Screen } from '../../parts/page/screen.tsx'
import { SkeletonRows } from '../../parts/page/skeleton.tsx'
import { useAsk } from '../../queries.ts'
import { useShortcuts } from '../../shortcuts.ts'
import { texts } from '../../texts/index.ts'
import { WorkspaceNotices } from '../workspaces/notices.tsx'
import { useCompared } from './compared.ts'
import { EndingDialog, type EndingTokens } from './ending.tsx'
import { MemberInspector } from './inspector.tsx'
import { InviteSheet } from './invite.tsx'
import {
  comparisonOf,
  isManager,
  KINDS,
  type MemberKind,
  type MemberList,
  type MemberRow,
  matchesText,
} from './listed.ts'
import { MemberGrid, MemberToolbar } from './member_grid.tsx'
import { useMembersPlace } from './place.ts'
import { RekeyNotice, useRekey } from './rekey.tsx'

const words = texts.members

export function Members() {
  const at = useMembersPlace()
  const { workspaceId, place, closeMember } = at
  const { data: list, error } = useAsk('members.list', { workspaceId })
  const [kind, setKind] = useState<MemberKind>('all')
  const [ending, setEnding] = useState<EndingTokens | null>(null)
  const rekey = useRekey(workspaceId)
  const rows = useRows(list)
  const { manages, rekeys } = rightsIn(list)
  const open = rows.find(({ userId }) => userId === place.member)
  const find = place.find ?? ''
  useInviteShortcut(manages, at.openInvite)
  const more = { id: 'rekey', label: words.rekey.more, icon: KeyRound, act: rekey.open }
  return (
    <Screen
      title={words.title}
      primary={manages ? <InviteButton onPress={at.openInvite} /> : null}
      more={rekeys ? [more] : []}
      toolbar={
        <MemberToolbar rows={rows} find={find} onFind={at.find} kind={kind} onKind={setKind} />
      }
      inspector={
        list && open ? (
          <MemberInspector
            {...{ workspaceId, list, member: open, onEnd: setEnding, onClose: closeMember }}
          />
        ) : null
      }
    >
      <WorkspaceNotices workspaceId={workspaceId} />
      {rekeys && list?.isRekeyDue ? <RekeyNotice onRekey={rekey.open} /> : null}
      <Failed error={error} isRead={list !== undefined} />
      <List
        isLoading={!(list || error)}
        rows={rows.filter((row) => KINDS[kind](row) && matchesText(row, find))}
        count={rows.length}
        openId={open?.userId}
        onOpen={at.openMember}
        onClear={() => {
          setKind('all')
          at.find('')
        }}
      />
      {list && manages && place.invite !== undefined ? (
        <InviteSheet workspaceId={workspaceId} list={list} onClose={at.closeInvite} />
      ) : null}
      {ending ? (
        <EndingDialog workspaceId={workspaceId} ending={ending} onClose={() => setEnding(null)} />
      ) : null}
      {rekey.dialogs}
    </Screen>
  )
}

function rightsIn(list: MemberList | undefined) {
  const manages = list !== undefined && isManager(list.ownRole)
  return { manages, rekeys: manages && list.isSigned }
}

/** A page notice says that the server is unavailable; what was read stays. */
function Failed({ error, isRead }: { error: AskError | null; isRead: boolean }) {
  if (error === null || (isRead && error.code === 'unreachable')) return null
  return (
    <div className="px-5 py-3 phone:px-4">
      <FailureNote error={error} />
    </div>
  )
}

type ListProps = Omit<ComponentProps<typeof MemberGrid>, 'isAlone'> & {
  isLoading: boolean
  /** Without the filter; 0 while nothing is read. */
  count: number
}

function List({ isLoading, count, ...shown }: ListProps) {
  if (isLoading) return <SkeletonRows count={5} hasHeader />
  return count === 0 ? null : <MemberGrid {...shown} isAlone={count === 1} />
}

function InviteButton({ onPress }: { onPress(): void }) {
  return (
    <Button kind="primary" icon={UserPlus} onPress={onPress}>
      {words.invite.action}
    </Button>
  )
}

const NO_ROWS: readonly MemberRow[] = []

function useRows(list: MemberList | undefined): readonly MemberRow[] {
  const own = list?.members.find(({ isOwn }) => isOwn)?.email ?? ''
  const isCompared = useCompared(own)
  return (
    list?.members.map((member) => ({
      ...member,
      comparison: comparisonOf(member, isCompared),
    })) ?? NO_ROWS
  )
}

function useInviteShortcut(manages: boolean, openInvite: () => void): void {
  const shortcuts = useMemo(
    () => (manages ? [{ keys: 'n', label: words.invite.action, act: openInvite }] : []),
    [manages, openInvite],
  )
  useShortcuts(shortcuts)
}
