/** Whether the signed history verified, with the way to its proof. */
import { BadgeCheck, ShieldAlert } from 'lucide-react'
import { LinkButton } from '../../parts/link_button.tsx'
import { Status } from '../../parts/show/status.tsx'
import { texts } from '../../texts/index.ts'
import type { OverviewData } from './attention_rows.ts'

const words = texts.overview

type Props = { workspaceId: string; history: OverviewData['history'] }

export function HistoryState({ workspaceId, history: { data, why } }: Props) {
  const isPlain = why === 'not_signed'
  return (
    <section
      aria-label={texts.common.areas.history}
      className="flex flex-wrap items-center gap-3 rounded-card border border-line bg-surface px-3 py-2.5"
    >
      {data ? (
        <Status tone="green" icon={BadgeCheck}>
          {words.verified}
        </Status>
      ) : (
        <Status tone={isPlain ? 'neutral' : 'red'} icon={ShieldAlert}>
          {isPlain ? words.notSigned : words.notVerified}
        </Status>
      )}
      {data ? <span className="text-ink-3">{words.links(data.links, data.members)}</span> : null}
      <span className="ml-auto">
        <LinkButton size="small" to="/w/$workspaceId/history" params={{ workspaceId }}>
          {words.openHistory}
        </LinkButton>
      </span>
    </section>
  )
}
