/** Naming, leaving and deleting a workspace. */
import { lazy, Suspense, useState } from 'react'
import { accountState, ask } from '../../keys/ask.ts'
import type { Returned } from '../../keys/messages.ts'
import { Button } from '../../parts/button.tsx'
import { TextField } from '../../parts/fields/text_field.tsx'
import { FieldForm } from '../../parts/form.tsx'
import { ConfirmButton } from '../../parts/overlays/confirm.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { Loading } from '../../parts/page/loading.tsx'
import { queryClient, queryKey, useAsk, useCommand } from '../../queries.ts'
import { texts } from '../../texts/index.ts'

const words = texts.workspaces

const NoticeTargets = lazy(() => import('./notice_targets.tsx'))

export type Workspace = Returned<'workspaces.list'>[number]

export function Changes({ workspace }: { workspace: Workspace }) {
  const [isNaming, setNaming] = useState(false)
  const [hasNotices, setNotices] = useState(false)
  const { id, name, role, type } = workspace
  const isShared = type !== 'personal'
  const listAnew = () =>
    queryClient.invalidateQueries({ queryKey: queryKey('workspaces.list', null) })
  const leave = async () => {
    const now = accountState.get()
    if (now?.kind !== 'open') return
    await ask('members.remove', { workspaceId: id, userId: now.userId, keep: [] })
    await listAnew()
  }
  const remove = async () => {
    await ask('workspaces.remove', { workspaceId: id })
    await listAnew()
  }
  return (
    <>
      <div className="row">
        {role === 'owner' || role === 'admin' ? (
          <>
            <Button kind="ghost" onPress={() => setNaming(!isNaming)}>
              {words.rename}
            </Button>
            <Button
              kind="ghost"
              aria-label={texts.noticeTargets.openOf(name)}
              aria-expanded={hasNotices}
              onPress={() => setNotices(!hasNotices)}
            >
              {texts.noticeTargets.open}
            </Button>
          </>
        ) : null}
        {isShared && role !== 'owner' ? (
          <ConfirmButton verb={words.leave} title={words.leave} onConfirm={leave}>
            <p>{words.leaving(name)}</p>
          </ConfirmButton>
        ) : null}
        {isShared && role === 'owner' ? (
          <ConfirmButton
            verb={words.remove}
            title={words.removing(name)}
            typed={name}
            onConfirm={remove}
          >
            <Losses workspaceId={id} />
          </ConfirmButton>
        ) : null}
      </div>
      {isNaming ? <Naming workspace={workspace} done={() => setNaming(false)} /> : null}
      {hasNotices ? (
        <Suspense fallback={<Loading />}>
          <NoticeTargets workspaceId={id} />
        </Suspense>
      ) : null}
    </>
  )
}

function Losses({ workspaceId }: { workspaceId: string }) {
  const { data, error } = useAsk('workspaces.losses', { workspaceId })
  if (error) return <FailureNote error={error} />
  return data ? <p>{words.losses(data.people, data.agents, data.projects)}</p> : <Loading />
}

function Naming({ workspace: { id, name: before }, done }: { workspace: Workspace; done(): void }) {
  const [name, setName] = useState(before)
  const rename = useCommand('workspaces.rename', {
    changes: ['workspaces.list'],
    optimistic: (input) => ({
      key: queryKey('workspaces.list', null),
      update: (listed: never) =>
        (listed as Workspace[]).map((each) =>
          each.id === id ? { ...each, name: input.name } : each,
        ),
    }),
  })
  const submit = () => {
    rename.mutate({ workspaceId: id, name }, { onSuccess: done })
  }
  return (
    <FieldForm className="row" onSubmit={submit}>
      <TextField
        label={words.renameTo(before)}
        isRequired
        autoFocus
        value={name}
        onChange={setName}
      />
      <Button type="submit" isPending={rename.isPending}>
        {texts.common.save}
      </Button>
      <Button kind="ghost" onPress={done}>
        {texts.common.cancel}
      </Button>
      {rename.error ? <FailureNote error={rename.error} /> : null}
    </FieldForm>
  )
}
