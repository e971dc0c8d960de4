/** Everything that waits for a person, above the calls, and the current approvals. */
import { Shield } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Command } from '../../parts/show/command.tsx'
import { texts } from '../../texts/index.ts'
import { useIsIgnored, type Waiting, type WaitingItem } from '../../waiting.ts'
import { describeItem } from './describe.ts'
import { Released } from './released.tsx'
import { IgnoreButton } from './sign.tsx'

const words = texts.waiting

/** Rows before the rest is asked for. */
const SHOWN = 3

type Props = {
  workspaceId: string
  waiting: Waiting
  openId: string | undefined
  onOpen(id: string | undefined): void
}

export function WaitingPanel({ workspaceId, waiting, openId, onOpen }: Props) {
  const { items, released, hidden, more } = waiting
  const [isAll, setAll] = useState(false)
  const shown = isAll ? items : items.filter(({ id }, at) => at < SHOWN || id === openId)
  if (items.length + released.length + hidden === 0) return null
  return (
    <section
      aria-labelledby="waiting"
      className="mx-5 mt-3.5 mb-1 flex max-h-[45%] shrink-0 flex-col overflow-hidden rounded-card border border-line-2 shadow-control phone:mx-4"
    >
      <h2
        id="waiting"
        className="flex h-9 shrink-0 items-center gap-2 bg-canvas px-3 font-semibold"
      >
        <Icon of={Shield} />
        <span className="shrink-0">{items.length > 0 ? words.title : words.released}</span>
        <span className="truncate font-normal text-ink-3">{words.summary(countsOf(items))}</span>
      </h2>
      <div className="min-h-0 overflow-auto">
        <ul aria-label={words.title}>
          {shown.map((item) => (
            <Row
              key={item.id}
              item={item}
              isOpen={item.id === openId}
              onReview={() => onOpen(item.id)}
              onIgnored={() => (item.id === openId ? onOpen(undefined) : undefined)}
            />
          ))}
        </ul>
        {shown.length < items.length ? (
          <div className="border-t border-line px-1 py-1">
            <Button kind="ghost" size="small" onPress={() => setAll(true)}>
              {words.showMore(items.length - shown.length)}
            </Button>
          </div>
        ) : null}
        <Unshown hidden={hidden} more={more} />
        <Released
          workspaceId={workspaceId}
          released={released}
          title={items.length > 0 ? words.released : null}
        />
      </div>
    </section>
  )
}

function countsOf(items: readonly WaitingItem[]) {
  const count = (kind: WaitingItem['kind']) => items.filter((item) => item.kind === kind).length
  return { requests: count('request'), hosts: count('host'), proposals: count('proposal') }
}

type RowProps = { item: WaitingItem; isOpen: boolean; onReview(): void; onIgnored(): void }

function Row({ item, isOpen, onReview, onIgnored }: RowProps) {
  const { title, facts } = describeItem(item)
  const isIgnored = useIsIgnored(item)
  return (
    <li
      className={`flex items-center gap-3 border-t border-line px-3 py-2 ${isOpen ? 'bg-accent-soft' : ''}`}
    >
      <span className="min-w-0 flex-1">
        <span className="block truncate font-medium">{title}</span>
        <span className="block truncate text-ink-3">{facts.filter(Boolean).join(' · ')}</span>
      </span>
      {isIgnored ? (
        <span className="flex h-6.5 items-center text-ink-3">{words.isIgnored}</span>
      ) : (
        <span className="flex shrink-0 gap-2">
          {/* On a phone the inspector has it. */}
          <span className="contents phone:hidden">
            <IgnoreButton isSmall item={item} label={words.ignoring(title)} onClose={onIgnored} />
          </span>
          <Button
            size="small"
            kind={isOpen ? 'primary' : 'secondary'}
            aria-label={words.reviewing(title)}
            onPress={onReview}
          >
            {words.review}
          </Button>
        </span>
      )}
    </li>
  )
}

function Unshown({ hidden, more }: Pick<Waiting, 'hidden' | 'more'>) {
  if (hidden + more === 0) return null
  return (
    <div className="flex flex-col gap-1 border-t border-line px-3 py-2 text-ink-2">
      {more > 0 ? <p>{words.more(more)}</p> : null}
      {hidden > 0 ? (
        <p>
          {words.hidden(hidden)} {words.hiddenHelp} <Command text={words.hiddenCommand} />
        </p>
      ) : null}
    </div>
  )
}
