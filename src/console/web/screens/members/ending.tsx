/** Confirms a smaller role or a removal: the exact change, and the tokens that end unless they are kept. */
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { Role } from '../../../../core/grant.ts'
import type { Returned } from '../../keys/messages.ts'
import { Button } from '../../parts/button.tsx'
import { Checkbox } from '../../parts/fields/checkbox.tsx'
import { Dialog, DialogFooter } from '../../parts/overlays/dialog.tsx'
import { say } from '../../parts/overlays/toasts.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { SkeletonRows } from '../../parts/page/skeleton.tsx'
import { DiffBlock } from '../../parts/show/diff_block.tsx'
import { queryKey, useAsk, useCommand } from '../../queries.ts'
import { texts, tokenName } from '../../texts/index.ts'
import { isManager, type ListedMember } from './listed.ts'

const words = texts.members.end

/** A change of a member; `role` is null when the member is removed. */
export type EndingTokens = { member: ListedMember; role: Role | null }

type Props = { workspaceId: string; ending: EndingTokens; onClose(): void }

export function EndingDialog(props: Props) {
  return (
    <Dialog title={titleOf(props.ending)} isOpen onClose={props.onClose} isAlert>
      <Question {...props} />
    </Dialog>
  )
}

function titleOf({ member: { email, isOwn, status }, role }: EndingTokens): string {
  if (role !== null) return words.changing(email)
  if (isOwn) return words.leaving
  return status === 'invited' ? words.withdrawing(email) : words.removing(email)
}

function Question({ workspaceId, ending, onClose }: Props) {
  const { member, role } = ending
  const { userId, isOwn } = member
  const [keep, setKeep] = useState<readonly string[]>([])
  const { change, act } = useChange(workspaceId, ending, onClose)
  const losesRights = !isOwn && (role === null || !isManager(role))
  return (
    <>
      <p>{role === null ? lossOf(member) : texts.members.mayDo[role]}</p>
      <ExactChange {...ending} />
      {losesRights ? (
        <Ending workspaceId={workspaceId} userId={userId} keep={keep} onKeep={setKeep} />
      ) : null}
      {change.error ? <FailureNote error={change.error} /> : null}
      <DialogFooter>
        <Button autoFocus onPress={onClose}>
          {texts.common.cancel}
        </Button>
        <Button
          kind={role === null ? 'danger' : 'primary'}
          isPending={change.isPending}
          onPress={() => act(keep)}
        >
          {role === null ? verbOf(member) : words.change}
        </Button>
      </DialogFooter>
    </>
  )
}

/** The lines of the member list before and after. */
function ExactChange({ member: { email, role: from }, role }: EndingTokens) {
  const { roles } = texts.members
  const removed = { text: words.line(email, roles[from]), change: 'removed' } as const
  const buildAddedRole = (to: Role) =>
    ({ text: words.line(email, roles[to]), change: 'added' }) as const
  return (
    <div className="flex flex-col gap-1">
      <p className="text-small font-medium text-ink-2">{words.changes}</p>
      <DiffBlock rows={role === null ? [removed] : [removed, buildAddedRole(role)]} />
    </div>
  )
}

function lossOf({ isOwn, status, email }: ListedMember): string {
  if (isOwn) return words.left
  return status === 'invited' ? words.withdrawn(email) : words.lost(email)
}

function verbOf({ isOwn, status }: ListedMember): string {
  if (isOwn) return texts.members.leave
  return status === 'invited' ? texts.members.withdraw : texts.members.remove
}

function useChange(workspaceId: string, { member, role }: EndingTokens, onClose: () => void) {
  const { userId, email, isOwn, status } = member
  const navigate = useNavigate()
  const changes = ['members.list', 'workspaces.list', 'history.read'] as const
  const key = queryKey('members.list', { workspaceId })
  const buildUpdate = (update: (members: ListedMember[]) => ListedMember[]) => ({
    key,
    update: (before: never) => {
      const listed: Returned<'members.list'> = before
      return { ...listed, members: update(listed.members) }
    },
  })
  const remove = useCommand('members.remove', {
    changes,
    optimistic: () => buildUpdate((members) => members.filter((each) => each.userId !== userId)),
  })
  const changeRole = useCommand('members.changeRole', {
    changes,
    optimistic: (input) =>
      buildUpdate((members) =>
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
    if (role !== null) {
      const text = words.changed(email, texts.members.asRoles[role])
      changeRole.mutate({ ...change, role }, { onSuccess: done(text) })
      return
    }
    const text = status === 'invited' ? words.withdrawnDone(email) : words.done(email)
    remove.mutate(change, { onSuccess: done(isOwn ? words.leftDone : text) })
  }
  return { change: role === null ? remove : changeRole, act }
}

type TokensProps = {
  workspaceId: string
  userId: string
  keep: readonly string[]
  onKeep(ids: readonly string[]): void
}

function Ending({ workspaceId, userId, keep, onKeep }: TokensProps) {
  const { data, error } = useAsk('members.ending', { workspaceId, userId })
  if (error) return <FailureNote error={error} />
  if (!data) return <SkeletonRows count={1} />
  const { tokens, left } = data
  if (tokens.length + left.length === 0) return <p className="text-ink-2">{words.noTokens}</p>
  return (
    <div className="flex flex-col gap-2">
      {tokens.length > 0 ? <p>{words.tokens(tokens.length)}</p> : null}
      {tokens.map(({ id, kind, agent, label, environments }) => (
        <Checkbox
          key={id}
          isSelected={keep.includes(id)}
          onChange={(kept) => onKeep(kept ? [...keep, id] : keep.filter((other) => other !== id))}
        >
          {words.token(kind, tokenName({ agent, label }), environments.join(', '))}
        </Checkbox>
      ))}
      {left.map(({ id, label, reason }) => (
        <p key={id} className="text-ink-2">
          {words.unverified(label, reason)}
        </p>
      ))}
    </div>
  )
}
