/** The person's workspaces and invitations. */
import { Link } from '@tanstack/react-router'
import { Building2, ChevronRight, Mail, Plus } from 'lucide-react'
import { useMemo, useState } from 'react'
import { workspaceLabel } from '../../frame/workspace_label.ts'
import type { Returned } from '../../keys/messages.ts'
import { Button } from '../../parts/button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { LinkButton } from '../../parts/link_button.tsx'
import { Dialog } from '../../parts/overlays/dialog.tsx'
import { say } from '../../parts/overlays/toasts.tsx'
import { EmptyState } from '../../parts/page/empty_state.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { Screen } from '../../parts/page/screen.tsx'
import { SkeletonRows } from '../../parts/page/skeleton.tsx'
import { Avatar } from '../../parts/show/avatar.tsx'
import { Status } from '../../parts/show/status.tsx'
import { useAsk, useCommand } from '../../queries.ts'
import { useShortcuts } from '../../shortcuts.ts'
import { texts } from '../../texts/index.ts'
import { NameForm } from './name_form.tsx'
import { WorkspaceNotices } from './notices.tsx'

const words = texts.workspaces
type Workspace = Returned<'workspaces.list'>[number]

export function Workspaces() {
  const { data, error } = useAsk('workspaces.list', null)
  const [isCreating, setCreating] = useState(false)
  const shortcuts = useMemo(
    () => [{ keys: 'n', label: words.create, act: () => setCreating(true) }],
    [],
  )
  useShortcuts(shortcuts)
  return (
    <Screen
      title={words.title}
      primary={
        <Button kind="primary" icon={Plus} onPress={() => setCreating(true)}>
          {words.create}
        </Button>
      }
    >
      <WorkspaceNotices />
      <div className="min-h-0 flex-1 overflow-auto p-5 phone:px-4">
        {error ? <FailureNote error={error} /> : null}
        {data || error ? null : <SkeletonRows count={3} height={56} />}
        {data ? <Lists all={data} /> : null}
      </div>
      <Dialog title={words.createTitle} isOpen={isCreating} onClose={() => setCreating(false)}>
        <Create onClose={() => setCreating(false)} />
      </Dialog>
    </Screen>
  )
}

function Lists({ all }: { all: readonly Workspace[] }) {
  const invited = all.filter(({ status }) => status === 'invited')
  const mine = all.filter(({ status }) => status !== 'invited')
  return (
    <div className="flex max-w-160 flex-col gap-6">
      {invited.length > 0 ? (
        <section className="flex flex-col gap-2" aria-labelledby="invitations">
          <h2 id="invitations" className="font-semibold">
            {words.invitations}
          </h2>
          <ul className={LIST}>
            {invited.map((each) => (
              <Invited key={each.id} workspace={each} />
            ))}
          </ul>
        </section>
      ) : null}
      {mine.length === 0 ? <EmptyState icon={Building2} title={words.none} /> : null}
      {mine.length > 0 ? (
        <ul className={LIST} aria-label={words.mine}>
          {mine.map((each) => (
            <Row key={each.id} workspace={each} label={workspaceLabel(each, mine)} />
          ))}
        </ul>
      ) : null}
    </div>
  )
}

const LIST =
  'flex flex-col divide-y divide-line overflow-hidden rounded-card border border-line bg-surface shadow-control'

function Row({ workspace, label }: { workspace: Workspace; label: string }) {
  const { id, name, role, type, isSigned, fault } = workspace
  const about = [
    texts.members.roles[role],
    ...(type === 'personal' ? [words.personal] : []),
    ...(isSigned ? [] : [words.plain]),
  ]
  return (
    <li>
      <Link
        to="/w/$workspaceId/overview"
        params={{ workspaceId: id }}
        className="flex min-h-14 items-center gap-3 px-4 py-2 -outline-offset-2 hover:bg-hover"
      >
        <Avatar name={name} shape="square" size={32} />
        <span className="min-w-0 flex-1">
          <span className="block truncate font-medium">{label}</span>
          <span className="block text-small text-ink-2">{about.join(' · ')}</span>
        </span>
        {fault ? <Status tone="red">{words.blocked}</Status> : null}
        <span className="text-ink-3">
          <Icon of={ChevronRight} />
        </span>
      </Link>
    </li>
  )
}

function Invited({ workspace: { id, name, role } }: { workspace: Workspace }) {
  return (
    <li className="flex min-h-14 items-center gap-3 px-4 py-2">
      <span className="grid size-8 shrink-0 place-items-center rounded-[6px] bg-accent-soft text-accent-ink">
        <Icon of={Mail} />
      </span>
      <span className="min-w-0 flex-1">
        <span className="block truncate font-medium">{name}</span>
        <span className="block text-small text-ink-2">{texts.members.roles[role]}</span>
      </span>
      <LinkButton
        size="small"
        to="/invitation"
        search={{ workspace: id }}
        aria-label={words.reviewNamed(name)}
      >
        {words.review}
      </LinkButton>
    </li>
  )
}

function Create({ onClose }: { onClose(): void }) {
  const create = useCommand('workspaces.create', { changes: ['workspaces.list'] })
  const submit = (name: string) =>
    create.mutate(
      { name },
      {
        onSuccess: () => {
          say(words.created(name))
          onClose()
        },
      },
    )
  return (
    <NameForm
      first=""
      verb={words.create}
      help={words.createHelp}
      isPending={create.isPending}
      error={create.error}
      onSubmit={submit}
      onCancel={onClose}
    />
  )
}
