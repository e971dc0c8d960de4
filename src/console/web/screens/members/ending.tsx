/** Before a member loses a role or the membership: which tokens end with it, and which of them are to stay. */
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { Role } from '../../../../core/grant.ts'
import type { Returned } from '../../keys/messages.ts'
import { Button } from '../../parts/button.tsx'
import { Checkbox } from '../../parts/fields/checkbox.tsx'
import { Dialog } from '../../parts/overlays/dialog.tsx'
import { say } from '../../parts/overlays/toasts.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { Loading } from '../../parts/page/loading.tsx'
import { queryKey, useAsk, useCommand } from '../../queries.ts'
import { texts } from '../../texts/index.ts'

const words = texts.members.end

export type ListedMember = Returned<'members.list'>['members'][number]

/** A change that takes rights from a member; `role` is null when the member is removed. */
export type EndingTokens = { member: ListedMember; role: Role | null }

type Props = { workspaceId: string; ending: EndingTokens; onClose(): void }

export function EndingDialog({ workspaceId, ending, onClose }: Props) {
  return (
    <Dialog title={titleOf(ending)} isOpen onClose={onClose} isAlert>
      <Question workspaceId={workspaceId} ending={ending} onClose={onClose} />
    </Dialog>
  )
}

function titleOf({ member: { email, isOwn }, role }: EndingTokens): string {
  if (role !== null) return words.changing(email, texts.members.roles[role])
  return isOwn ? words.leaving : words.removing(email)
}

function Question({ workspaceId, ending, onClose }: Props) {
  const { member, role } = ending
  const [keep, setKeep] = useState<readonly string[]>([])
  const { change, act } = useChange(workspaceId, ending, onClose)
  const losesRights = role === null || role === 'member' || role === 'read_only'
  const lost = member.isOwn ? words.left : words.lost(member.email)
  return (
    <>
      {role === null ? <p>{lost}</p> : <p>{texts.members.mayDo[role]}</p>}
      {losesRights && !member.isOwn ? (
        <EndingTokens
          workspaceId={workspaceId}
          userId={member.userId}
          keep={keep}
          onKeep={setKeep}
        />
      ) : null}
      {change.error ? <FailureNote error={change.error} /> : null}
      <div className="actions">
        <Button autoFocus onPress={onClose}>
          {texts.common.cancel}
        </Button>
        <Button kind="danger" isPending={change.isPending} onPress={() => act(keep)}>
          {role === null ? verbOf(member) : words.change}
        </Button>
      </div>
    </>
  )
}

function verbOf({ isOwn }: ListedMember): string {
  return isOwn ? texts.members.leave : texts.members.remove
}

function useChange(workspaceId: string, { member, role }: EndingTokens, onClose: () => void) {
  const { userId, email, isOwn } = member
  const navigate = useNavigate()
  const changes = ['members.list', 'workspaces.list', 'history.read'] as const
  const key = queryKey('members.list', { workspaceId })
  const shown = (update: (members: ListedMember[]) => ListedMember[]) => ({
    key,
    update: (before: never) => {
      const listed: Returned<'members.list'> = before
      return { ...listed, members: update(listed.members) }
    },
  })
  const remove = useCommand('members.remove', {
    changes,
    optimistic: () => shown((members) => members.filter((each) => each.userId !== userId)),
  })
  const changeRole = useCommand('members.changeRole', {
    changes,
    optimistic: (input) =>
      shown((members) =>
        members.map((each) => (each.userId === userId ? { ...each, role: input.role } : each)),
      ),
  })
  const act = (keep: readonly string[]) => {
    const change = { workspaceId, userId, keep }
    const done = (text: string) => () => {
      say(text)
      onClose()
      if (isOwn && role === null) void navigate({ to: '/' })
    }
    if (role === null) {
      remove.mutate(change, { onSuccess: done(isOwn ? words.left : words.done(email)) })
    } else {
      const text = words.changed(email, texts.members.roles[role])
      changeRole.mutate({ ...change, role }, { onSuccess: done(text) })
    }
  }
  return { change: role === null ? remove : changeRole, act }
}

type TokensProps = {
  workspaceId: string
  userId: string
  keep: readonly string[]
  onKeep(ids: readonly string[]): void
}

function EndingTokens({ workspaceId, userId, keep, onKeep }: TokensProps) {
  const { data, error } = useAsk('members.ending', { workspaceId, userId })
  if (error) return <FailureNote error={error} />
  if (!data) return <Loading />
  const { tokens, left } = data
  if (tokens.length + left.length === 0) return <p className="soft">{words.noTokens}</p>
  return (
    <div className="stack">
      {tokens.length > 0 ? <p>{words.tokens(tokens.length)}</p> : null}
      {tokens.map(({ id, kind, label, environments }) => (
        <Checkbox
          key={id}
          isSelected={keep.includes(id)}
          onChange={(kept) => onKeep(kept ? [...keep, id] : keep.filter((other) => other !== id))}
        >
          {words.token(kind, label, environments.join(', '))}
        </Checkbox>
      ))}
      {left.map(({ id, label, reason }) => (
        <p key={id} className="soft">
          {words.unverified(label, reason)}
        </p>
      ))}
    </div>
  )
}
