/** Adds a notice target; a webhook's signing key is shown once, before the sheet closes. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { createNoticeTarget } from '../../../../features/notices/contract.ts'
import { api } from '../../api.ts'
import { failureIn } from '../../availability.ts'
import { Button } from '../../parts/button.tsx'
import { Choices } from '../../parts/fields/checkbox.tsx'
import { Select } from '../../parts/fields/select.tsx'
import { TextField } from '../../parts/fields/text_field.tsx'
import { FieldForm } from '../../parts/form.tsx'
import { Sheet } from '../../parts/overlays/sheet.tsx'
import { say } from '../../parts/overlays/toasts.tsx'
import { Banner } from '../../parts/page/banner.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { CopyButton } from '../../parts/show/copy.tsx'
import { texts } from '../../texts/index.ts'
import {
  type NoticeTargetType,
  noticeTargetTypes,
  targetEvents,
  targetKey,
  targetName,
} from './target.ts'

const words = texts.noticeTargets
type Draft = { type: NoticeTargetType; url: string; events: readonly string[] }
type Props = { workspaceId: string; onClose(): void }

export function AddTargetSheet({ workspaceId, onClose }: Props) {
  const [signingKey, setSigningKey] = useState<string | null>(null)
  return (
    <Sheet title={words.addTitle} isOpen onClose={onClose}>
      {signingKey === null ? (
        <AddForm
          workspaceId={workspaceId}
          onAdded={(key) => (key === null ? onClose() : setSigningKey(key))}
        />
      ) : (
        <>
          <Banner kind="warning">
            <p>{words.keyHelp}</p>
            <CopyButton text={signingKey} name={words.key} isSecret />
          </Banner>
          <Button kind="primary" isFull onPress={onClose}>
            {texts.members.invite.done}
          </Button>
        </>
      )}
    </Sheet>
  )
}

function useAdd(workspaceId: string, onAdded: (key: string | null) => void) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ type, url, events }: Draft) =>
      api.call(createNoticeTarget, {
        params: { workspace_id: workspaceId },
        body: { type, url, events: targetEvents.filter((event) => events.includes(event)) },
      }),
    onSuccess: async (target) => {
      say(words.added(targetName(target)))
      onAdded(target.signing_key ?? null)
      await client.invalidateQueries({ queryKey: targetKey(workspaceId) })
    },
  })
}

type FormProps = { workspaceId: string; onAdded(key: string | null): void }

function AddForm({ workspaceId, onAdded }: FormProps) {
  const [draft, setDraft] = useState<Draft>({ type: 'slack', url: '', events: targetEvents })
  const [isWithoutEvents, setWithoutEvents] = useState(false)
  const add = useAdd(workspaceId, onAdded)
  const fault = failureIn(add.error)?.fields[0]?.message
  const submit = () => {
    setWithoutEvents(draft.events.length === 0)
    if (draft.events.length > 0) add.mutate(draft)
  }
  return (
    <FieldForm className="flex flex-col gap-4" onSubmit={submit}>
      <Select<NoticeTargetType>
        label={words.type}
        options={noticeTargetTypes.map((id) => ({ id, label: words.types[id] }))}
        value={draft.type}
        onChange={(type) => setDraft({ ...draft, type })}
      />
      <TextField
        label={words.url}
        help={words.urlHelp}
        type="password"
        autoComplete="off"
        isRequired
        mono
        value={draft.url}
        onChange={(url) => setDraft({ ...draft, url })}
        error={fault && words.urlFault(fault)}
      />
      <Choices
        label={words.chosen}
        options={targetEvents.map((id) => ({ id, label: words.events[id] }))}
        value={draft.events}
        onChange={(events) => setDraft({ ...draft, events })}
      />
      {isWithoutEvents && draft.events.length === 0 ? (
        <p role="alert" className="text-small text-red">
          {words.noEvents}
        </p>
      ) : null}
      {add.error && !fault ? <FailureNote error={add.error} /> : null}
      <Button kind="primary" type="submit" isFull isPending={add.isPending}>
        {words.add}
      </Button>
    </FieldForm>
  )
}
