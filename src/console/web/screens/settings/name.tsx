/** The name of the workspace. */
import { useState } from 'react'
import type { ListedWorkspace } from '../../frame/current_workspace.ts'
import { useMay } from '../../manages.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/overlays/dialog.tsx'
import { say } from '../../parts/overlays/toasts.tsx'
import { Card } from '../../parts/page/card.tsx'
import { Facts } from '../../parts/page/facts.tsx'
import { queryKey, useCommand } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { NameForm } from '../workspaces/name_form.tsx'

const words = texts.workspaces.settings

export function NameCard({ workspace }: { workspace: ListedWorkspace }) {
  const { id, name, role } = workspace
  const [isOpen, setOpen] = useState(false)
  const mayRename = useMay(id, 'workspace.update')
  return (
    <Card
      title={words.card}
      action={mayRename ? <Button onPress={() => setOpen(true)}>{words.rename}</Button> : undefined}
    >
      <Facts
        rows={[
          [words.name, name],
          [words.role, texts.members.roles[role]],
        ]}
      />
      <Dialog title={words.renameTitle} isOpen={isOpen} onClose={() => setOpen(false)}>
        <Rename workspace={workspace} onClose={() => setOpen(false)} />
      </Dialog>
    </Card>
  )
}

function Rename({
  workspace: { id, name },
  onClose,
}: {
  workspace: ListedWorkspace
  onClose(): void
}) {
  const rename = useCommand('workspaces.rename', {
    changes: ['workspaces.list'],
    optimistic: (input) => ({
      key: queryKey('workspaces.list', null),
      update: (listed: never) =>
        (listed as ListedWorkspace[]).map((each) =>
          each.id === id ? { ...each, name: input.name } : each,
        ),
    }),
  })
  const submit = (next: string) =>
    rename.mutate(
      { workspaceId: id, name: next },
      {
        onSuccess: () => {
          say(words.renamed(next))
          onClose()
        },
      },
    )
  return (
    <NameForm
      first={name}
      verb={words.rename}
      isPending={rename.isPending}
      error={rename.error}
      onSubmit={submit}
      onCancel={onClose}
    />
  )
}
