/** The reason for a blocked workspace on every screen: a changed name, or a history that doesn't verify. */
import { useMatch } from '@tanstack/react-router'
import { ShieldAlert } from 'lucide-react'
import { useState } from 'react'
import { ask } from '../keys/ask.ts'
import { dismissNotice, useNotices } from '../keys/notices.ts'
import type { WorkspaceNotice } from '../keys/reports.ts'
import { Button } from '../parts/button.tsx'
import { LinkButton } from '../parts/link_button.tsx'
import { ConfirmDialog } from '../parts/overlays/confirm.tsx'
import { Facts } from '../parts/page/facts.tsx'
import { Proof } from '../parts/page/proof.tsx'
import { Strip } from '../parts/page/strip.tsx'
import { queryClient, useAsk } from '../queries.ts'
import { texts } from '../texts/index.ts'

const words = texts.notices
type Changed = Extract<WorkspaceNotice, { kind: 'name' }>

export default function Refusals({ workspaceId }: { workspaceId: string | null }) {
  const changed = useNotices().filter((notice) => notice.kind === 'name')
  const { data = [] } = useAsk('workspaces.list', null)
  const current = data.find(({ id }) => id === workspaceId)
  const isHistory = useMatch({ from: '/w/$workspaceId/history', shouldThrow: false }) !== undefined
  // A changed name explains the fault, and the signed history shows it itself.
  if (current?.fault && !isHistory && !changed.some(({ id }) => id === workspaceId)) {
    return (
      <Strip
        icon={ShieldAlert}
        isDanger
        action={
          <LinkButton
            size="small"
            to="/w/$workspaceId/history"
            params={{ workspaceId: current.id }}
          >
            {words.history}
          </LinkButton>
        }
      >
        <p className="font-medium">{words.broken(current.name)}</p>
        <Proof>{current.fault}</Proof>
      </Strip>
    )
  }
  return changed.map((notice) => <ChangedName key={notice.id} notice={notice} />)
}

function ChangedName({ notice }: { notice: Changed }) {
  const { id, name, before, list, workspaceId } = notice
  const [isOpen, setOpen] = useState(false)
  const { data = [] } = useAsk('workspaces.list', null)
  const kind = words.kinds[kindOf(list)]
  const place = data.find((each) => each.id === workspaceId && each.id !== id)?.name ?? null
  const accept = async () => {
    await ask('names.accept', { id })
    dismissNotice(notice)
    await queryClient.invalidateQueries()
  }
  return (
    <Strip
      icon={ShieldAlert}
      isDanger
      action={
        <Button size="small" onPress={() => setOpen(true)}>
          {words.review}
        </Button>
      }
    >
      <p className="font-medium">{words.changed(kind, name, place)}</p>
      <ConfirmDialog
        verb={words.accept}
        title={words.accepting(name)}
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        onConfirm={accept}
      >
        <p>{words.changedHelp}</p>
        <Facts
          rows={[
            [words.before, <code key="before">{before.join(', ')}</code>],
            [words.now, <code key="now">{id}</code>],
          ]}
        />
      </ConfirmDialog>
    </Strip>
  )
}

function kindOf(list: string): keyof typeof words.kinds {
  if (list.startsWith('workspaces')) return 'workspace'
  return list.startsWith('projects') ? 'project' : 'agent'
}
