/** The inspector of what the address names: a call, or something that waits for a decision. */
import { useState } from 'react'
import { Inspector } from '../../parts/page/inspector.tsx'
import { texts } from '../../texts/index.ts'
import type { Waiting, WaitingItem } from '../../waiting.ts'
import { ProposalInspector } from '../waiting/proposal.tsx'
import { RequestInspector } from '../waiting/request.tsx'
import { CallInspector } from './call.tsx'
import { isAllowable, RefusedInspector } from './refused.tsx'
import type { LiveCall } from './stream.ts'

type Shown = { calls: readonly LiveCall[]; waiting: Waiting | null }
type Props = {
  workspaceId: string
  openId: string
  /** As the list shows it. */
  shown: Shown
  /** All calls until now. */
  calls: readonly LiveCall[]
  onClose(): void
}

export function OpenedCall({ openId, shown, ...props }: Props) {
  const item = shown.waiting?.items.find(({ id }) => id === openId)
  const call = shown.calls.find(({ id }) => id === openId)
  // A decided item stays open, although it no longer waits.
  const [kept, setKept] = useState({ item, call })
  if ((item && item !== kept.item) || (call && call !== kept.call)) setKept({ item, call })
  if (kept.item) return <ItemInspector {...props} item={kept.item} />
  if (kept.call && isAllowable(kept.call)) return <RefusedInspector {...props} call={kept.call} />
  if (kept.call) return <CallInspector {...props} call={kept.call} />
  return (
    <Inspector title={texts.live.gone} onClose={props.onClose}>
      <p className="px-4 text-ink-2">{texts.live.goneHelp}</p>
    </Inspector>
  )
}

type ItemProps = Omit<Props, 'openId' | 'shown'> & { item: WaitingItem }

function ItemInspector({ item, ...props }: ItemProps) {
  switch (item.kind) {
    case 'request':
      return <RequestInspector {...props} item={item} request={item.request} />
    case 'proposal':
      return <ProposalInspector {...props} item={item} proposal={item.proposal} />
    default:
      return (
        <RefusedInspector
          {...props}
          call={item.refused.newest}
          item={item}
          refused={item.refused}
        />
      )
  }
}
