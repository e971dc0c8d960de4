/** Leaving a workspace, or deleting it: owners delete, everyone else leaves. A personal workspace stays. */
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { ListedWorkspace } from '../../frame/current_workspace.ts'
import { accountState, ask } from '../../keys/ask.ts'
import { Button } from '../../parts/button.tsx'
import { ConfirmDialog } from '../../parts/overlays/confirm.tsx'
import { say } from '../../parts/overlays/toasts.tsx'
import { Card } from '../../parts/page/card.tsx'
import { Facts } from '../../parts/page/facts.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { SkeletonRows } from '../../parts/page/skeleton.tsx'
import { queryClient, queryKey, useAsk } from '../../queries.ts'
import { texts } from '../../texts/index.ts'

const words = texts.workspaces.settings

export function EndCard({ workspace }: { workspace: ListedWorkspace }) {
  if (workspace.type === 'personal') return null
  return workspace.role === 'owner' ? (
    <DeleteCard workspace={workspace} />
  ) : (
    <LeaveCard workspace={workspace} />
  )
}

/** Leads to another workspace once this one is left or deleted. */
function useEnd(text: string) {
  const navigate = useNavigate()
  return async (end: () => Promise<unknown>) => {
    await end()
    say(text)
    await queryClient.invalidateQueries({ queryKey: queryKey('workspaces.list', null) })
    await navigate({ to: '/' })
  }
}

function LeaveCard({ workspace: { id, name } }: { workspace: ListedWorkspace }) {
  const [isOpen, setOpen] = useState(false)
  const end = useEnd(words.left(name))
  const leave = async () => {
    const account = accountState.get()
    if (account?.kind !== 'open') return
    const own = { workspaceId: id, userId: account.userId, keep: [] }
    await end(() => ask('members.remove', own))
  }
  return (
    <Card
      title={words.leaveWorkspace}
      description={words.leaveHelp}
      action={<Button onPress={() => setOpen(true)}>{words.leaveWorkspace}</Button>}
    >
      <ConfirmDialog
        verb={words.leave}
        title={words.leaving(name)}
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        onConfirm={leave}
      >
        <p>{words.leavingHelp}</p>
      </ConfirmDialog>
    </Card>
  )
}

function DeleteCard({ workspace: { id, name } }: { workspace: ListedWorkspace }) {
  const [isOpen, setOpen] = useState(false)
  const end = useEnd(words.removed(name))
  return (
    <Card
      title={words.remove}
      description={words.removeHelp}
      action={<Button onPress={() => setOpen(true)}>{words.remove}</Button>}
    >
      <ConfirmDialog
        verb={words.remove}
        title={words.removing(name)}
        typed={name}
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        onConfirm={() => end(() => ask('workspaces.remove', { workspaceId: id }))}
      >
        <Losses workspaceId={id} />
      </ConfirmDialog>
    </Card>
  )
}

function Losses({ workspaceId }: { workspaceId: string }) {
  const { data, error } = useAsk('workspaces.losses', { workspaceId })
  if (error) return <FailureNote error={error} />
  if (!data) return <SkeletonRows count={1} />
  const { people, agents, projects } = data
  return (
    <>
      <p>
        {words.losses(people, agents, projects)} {words.undoable}
      </p>
      {projects.length > 0 ? <Facts rows={[[words.projects, projects.join(', ')]]} /> : null}
    </>
  )
}
