/** A workspace's notice targets. They need no key, so the page itself asks the server. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { CallResult } from '../../../../client/http/api.ts'
import {
  createNoticeTarget,
  deleteNoticeTarget,
  listNoticeTargets,
  noticeEvent,
  noticeTargetType,
  testNoticeTarget,
} from '../../../../features/notices/contract.ts'
import { api } from '../../api.ts'
import { failureIn } from '../../away.ts'
import { Button } from '../../parts/button.tsx'
import { Choices } from '../../parts/fields/checkbox.tsx'
import { Select } from '../../parts/fields/select.tsx'
import { TextField } from '../../parts/fields/text_field.tsx'
import { FieldForm } from '../../parts/form.tsx'
import { ConfirmButton } from '../../parts/overlays/confirm.tsx'
import { say } from '../../parts/overlays/toasts.tsx'
import { Banner } from '../../parts/page/banner.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { Loading } from '../../parts/page/loading.tsx'
import { CopyButton } from '../../parts/show/copy.tsx'
import { texts } from '../../texts/index.ts'

const words = texts.noticeTargets

const noticeEvents = noticeEvent.options
const targetTypes = noticeTargetType.options

const keyOf = (workspaceId: string) => ['notice_targets', workspaceId]

type TargetType = (typeof targetTypes)[number]
type Target = CallResult<typeof listNoticeTargets>[number]

export default function NoticeTargets({ workspaceId }: { workspaceId: string }) {
  const params = { workspace_id: workspaceId }
  const { data, error } = useQuery({
    queryKey: keyOf(workspaceId),
    queryFn: () => api.list(listNoticeTargets, { params }),
  })
  return (
    <section className="card stack" aria-label={words.list}>
      <p className="soft">{words.help}</p>
      {error ? <FailureNote error={error} /> : null}
      {data || error ? null : <Loading />}
      {data?.length === 0 ? <p>{words.none}</p> : null}
      <ul className="plain-list stack-tight" aria-label={words.list}>
        {data?.map((target) => (
          <Row key={target.id} workspaceId={workspaceId} target={target} />
        ))}
      </ul>
      <Add workspaceId={workspaceId} />
    </section>
  )
}

function nameOf({ type, host }: Pick<Target, 'type' | 'host'>): string {
  return words.named(words.types[type], host)
}

function Row({ workspaceId, target }: { workspaceId: string; target: Target }) {
  const client = useQueryClient()
  const params = { workspace_id: workspaceId, target_id: target.id }
  const test = useMutation({
    mutationFn: () => api.call(testNoticeTarget, { params, body: {} }),
    onSuccess: () => say(words.tested),
  })
  const remove = async () => {
    await api.call(deleteNoticeTarget, { params })
    await client.invalidateQueries({ queryKey: keyOf(workspaceId) })
    say(words.removed(nameOf(target)))
  }
  const events = noticeEvents.filter((event) => target.events.includes(event))
  return (
    <li className="stack-tight">
      <div className="row">
        <strong>{nameOf(target)}</strong>
        <Button
          aria-label={words.testOf(nameOf(target))}
          isPending={test.isPending}
          onPress={() => test.mutate()}
        >
          {words.test}
        </Button>
        <ConfirmButton
          verb={words.remove}
          title={words.removing(nameOf(target))}
          onConfirm={remove}
        >
          <p>{words.removeHelp}</p>
        </ConfirmButton>
      </div>
      <span className="soft small">{events.map((event) => words.events[event]).join(' · ')}</span>
      {test.error ? <FailureNote error={test.error} /> : null}
    </li>
  )
}

function Add({ workspaceId }: { workspaceId: string }) {
  const client = useQueryClient()
  const [type, setType] = useState<TargetType>('slack')
  const [url, setUrl] = useState('')
  const [events, setEvents] = useState<readonly string[]>(noticeEvents)
  const add = useMutation({
    mutationFn: () =>
      api.call(createNoticeTarget, {
        params: { workspace_id: workspaceId },
        body: { type, url, events: noticeEvents.filter((event) => events.includes(event)) },
      }),
    onSuccess: async (target) => {
      setUrl('')
      say(words.added(nameOf(target)))
      await client.invalidateQueries({ queryKey: keyOf(workspaceId) })
    },
  })
  const key = add.data?.signing_key ?? null
  return (
    <FieldForm className="stack" onSubmit={() => add.mutate()}>
      <div className="row">
        <Select<TargetType>
          label={words.type}
          options={targetTypes.map((id) => ({ id, label: words.types[id] }))}
          value={type}
          onChange={setType}
        />
        <TextField
          label={words.url}
          help={words.urlHelp}
          type="password"
          autoComplete="off"
          isRequired
          mono
          value={url}
          onChange={setUrl}
          error={failureIn(add.error)?.fields[0]?.message}
        />
      </div>
      <Choices
        label={words.chosen}
        options={noticeEvents.map((id) => ({ id, label: words.events[id] }))}
        value={events}
        onChange={setEvents}
      />
      <div>
        <Button type="submit" isDisabled={events.length === 0} isPending={add.isPending}>
          {words.add}
        </Button>
      </div>
      {add.error ? <FailureNote error={add.error} /> : null}
      {key === null ? null : (
        <Banner kind="warning">
          <p>{words.keyHelp}</p>
          <CopyButton text={key} name={words.key} isSecret />
        </Banner>
      )}
    </FieldForm>
  )
}
