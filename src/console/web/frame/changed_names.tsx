/** What is refused on all screens of a workspace: names that stand for something else, and a history that does not hold. */
import { Link } from '@tanstack/react-router'
import { ask } from '../keys/ask.ts'
import { dismissNotice, useNotices } from '../keys/notices.ts'
import type { WorkspaceNotice } from '../keys/reports.ts'
import { ConfirmButton } from '../parts/overlays/confirm.tsx'
import { Banner } from '../parts/page/banner.tsx'
import { queryClient, useAsk } from '../queries.ts'
import { texts } from '../texts/index.ts'

const words = texts.notices
type Changed = Extract<WorkspaceNotice, { kind: 'name' }>

export default function Refusals({ workspaceId }: { workspaceId: string | null }) {
  const changed = useNotices().filter((notice) => notice.kind === 'name')
  const { data = [] } = useAsk('workspaces.list', null)
  const fault = data.find(({ id }) => id === workspaceId)?.fault ?? null
  // The name says what there is to say.
  if (fault !== null && !changed.some(({ id }) => id === workspaceId)) {
    return <Broken workspaceId={workspaceId ?? ''} fault={fault} />
  }
  return changed.map((notice) => (
    <Banner key={notice.id} kind="danger">
      <Accept notice={notice} />
    </Banner>
  ))
}

function Broken({ workspaceId, fault }: { workspaceId: string; fault: string }) {
  return (
    <Banner kind="danger">
      <p>{texts.workspaces.broken}</p>
      <p>{fault}</p>
      <Link to="/w/$workspaceId/history" params={{ workspaceId }}>
        {texts.workspaces.history}
      </Link>
    </Banner>
  )
}

function Accept({ notice }: { notice: Changed }) {
  const { id, name, before, list, workspaceId } = notice
  const { data = [] } = useAsk('workspaces.list', null)
  const kind = words.kinds[kindOf(list)]
  const place = data.find((each) => each.id === workspaceId && each.id !== id)?.name ?? null
  const accept = async () => {
    await ask('names.accept', { id })
    dismissNotice(notice)
    await queryClient.invalidateQueries()
  }
  return (
    <div className="stack">
      <p>{words.changed(kind, name, place)}</p>
      <dl className="facts">
        <dt>{words.before}</dt>
        <dd>
          <code>{before.join(', ')}</code>
        </dd>
        <dt>{words.now}</dt>
        <dd>
          <code>{id}</code>
        </dd>
      </dl>
      <p className="soft">{words.changedHelp}</p>
      <div>
        <ConfirmButton verb={words.accept} title={words.accepting(name)} onConfirm={accept}>
          <p>{words.acceptWhat(kind, name)}</p>
        </ConfirmButton>
      </div>
    </div>
  )
}

function kindOf(list: string): keyof typeof words.kinds {
  if (list.startsWith('workspaces')) return 'workspace'
  return list.startsWith('projects') ? 'project' : 'agent'
}
