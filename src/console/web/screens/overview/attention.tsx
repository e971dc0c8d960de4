/** "Waiting for you": each row has one action. */
import { CircleCheck } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { LinkButton } from '../../parts/link_button.tsx'
import { Facts } from '../../parts/page/facts.tsx'
import { Proof } from '../../parts/page/proof.tsx'
import { texts } from '../../texts/index.ts'
import type { WaitingItem } from '../../waiting.ts'
import {
  type AttentionRow,
  listAttention,
  listUnreadParts,
  type OverviewData,
} from './attention_rows.ts'
import { Block } from './block.tsx'

const words = texts.overview
/** More would push the rest of the page out of view. */
const FIRST_ROWS = 5

type Props = { workspaceId: string; overview: OverviewData; items: readonly WaitingItem[] }

export function WaitingRows({ workspaceId, overview, items }: Props) {
  const rows = listAttention(workspaceId, items, overview)
  const [showsAll, setShowsAll] = useState(false)
  const shown = showsAll ? rows : rows.slice(0, FIRST_ROWS)
  const more = rows.length - shown.length
  const unread = listUnreadParts(overview)
  return (
    <Block title={texts.waiting.title} {...(rows.length > 0 ? { note: String(rows.length) } : {})}>
      {rows.length > 0 ? (
        <ul aria-label={texts.waiting.title}>
          {shown.map((row) => (
            <Row key={row.id} row={row} />
          ))}
        </ul>
      ) : unread.length > 0 ? null : (
        <p className="flex items-center gap-2 border-t border-line px-3 py-3 text-ink-2">
          <Icon of={CircleCheck} />
          {words.nothingWaits}
        </p>
      )}
      {more > 0 ? (
        <div className="border-t border-line px-1 py-1">
          <Button kind="ghost" size="small" onPress={() => setShowsAll(true)}>
            {words.showMore(more)}
          </Button>
        </div>
      ) : null}
      <Unread parts={unread} />
    </Block>
  )
}

function Row({ row: { icon, title, detail, action, link } }: { row: AttentionRow }) {
  return (
    <li className="flex min-h-14 items-center gap-3 border-t border-line px-3 py-2">
      <span className="text-ink-3">
        <Icon of={icon} size={16} />
      </span>
      <span className="min-w-0 flex-1">
        <span className="block truncate font-medium" title={title}>
          {title}
        </span>
        <span className="block truncate text-ink-3" title={detail}>
          {detail}
        </span>
      </span>
      <LinkButton size="small" aria-label={words.actionOn(action, title)} {...link}>
        {action}
      </LinkButton>
    </li>
  )
}

function Unread({ parts }: { parts: ReturnType<typeof listUnreadParts> }) {
  if (parts.length === 0) return null
  return (
    <div className="flex flex-col gap-1 border-t border-line px-3 py-2 text-amber">
      <p>{words.unread}</p>
      <Proof>
        <Facts rows={parts.map(({ part, code }) => [part, code] as const)} />
      </Proof>
    </div>
  )
}
