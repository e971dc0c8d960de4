/** A workspace's notice targets. They need no key, so the page itself asks the server. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Send, Trash2, Webhook } from 'lucide-react'
import { useState } from 'react'
import type { CallResult } from '../../../../client/http/api.ts'
import {
  deleteNoticeTarget,
  listNoticeTargets,
  testNoticeTarget,
} from '../../../../features/notices/contract.ts'
import { api } from '../../api.ts'
import { Button } from '../../parts/button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { ConfirmDialog } from '../../parts/overlays/confirm.tsx'
import { IconMenu } from '../../parts/overlays/menu.tsx'
import { say } from '../../parts/overlays/toasts.tsx'
import { Card } from '../../parts/page/card.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { SkeletonRows } from '../../parts/page/skeleton.tsx'
import { texts } from '../../texts/index.ts'
import { AddTargetSheet } from './add_target.tsx'
import { targetEvents, targetKey, targetName } from './target.ts'

const words = texts.noticeTargets

type Target = CallResult<typeof listNoticeTargets>[number]

export default function NoticeTargets({ workspaceId }: { workspaceId: string }) {
  const [isAdding, setAdding] = useState(false)
  const { data, error } = useQuery({
    queryKey: targetKey(workspaceId),
    queryFn: () => api.list(listNoticeTargets, { params: { workspace_id: workspaceId } }),
  })
  return (
    <Card
      title={words.title}
      description={words.help}
      action={<Button onPress={() => setAdding(true)}>{words.addMore}</Button>}
    >
      {error ? <FailureNote error={error} /> : null}
      {data || error ? null : <SkeletonRows count={1} />}
      {data?.length === 0 ? <p className="text-ink-2">{words.none}</p> : null}
      {data && data.length > 0 ? (
        <ul aria-label={words.list} className="flex flex-col divide-y divide-line">
          {data.map((target) => (
            <Row key={target.id} workspaceId={workspaceId} target={target} />
          ))}
        </ul>
      ) : null}
      {isAdding ? (
        <AddTargetSheet workspaceId={workspaceId} onClose={() => setAdding(false)} />
      ) : null}
    </Card>
  )
}

function eventText(events: readonly string[]): string {
  const known = targetEvents.filter((event) => events.includes(event))
  if (known.length === targetEvents.length) return words.allEvents
  return known.map((event) => words.events[event]).join(' · ')
}

function Row({ workspaceId, target }: { workspaceId: string; target: Target }) {
  const client = useQueryClient()
  const [isRemoving, setRemoving] = useState(false)
  const name = targetName(target)
  const params = { workspace_id: workspaceId, target_id: target.id }
  const test = useMutation({
    mutationFn: () => api.call(testNoticeTarget, { params, body: {} }),
    onSuccess: () => say(words.tested),
  })
  const remove = async () => {
    await api.call(deleteNoticeTarget, { params })
    await client.invalidateQueries({ queryKey: targetKey(workspaceId) })
    say(words.removed(name))
  }
  return (
    <li className="flex flex-col gap-2 py-2">
      <div className="flex items-center gap-3">
        <span className="text-ink-3">
          <Icon of={Webhook} />
        </span>
        <div className="min-w-0 flex-1">
          <p className="truncate font-medium">{name}</p>
          <p className="text-small text-ink-2">{eventText(target.events)}</p>
        </div>
        <IconMenu
          label={words.actionsOf(name)}
          size="small"
          choices={[
            { id: 'test', label: words.test, icon: Send, act: () => test.mutate() },
            {
              id: 'remove',
              label: words.removeMore,
              icon: Trash2,
              isDanger: true,
              act: () => setRemoving(true),
            },
          ]}
        />
      </div>
      {test.error ? <FailureNote error={test.error} /> : null}
      <ConfirmDialog
        verb={words.remove}
        title={words.removing(name)}
        isOpen={isRemoving}
        onClose={() => setRemoving(false)}
        onConfirm={remove}
      >
        <p>{words.removeHelp}</p>
      </ConfirmDialog>
    </li>
  )
}
