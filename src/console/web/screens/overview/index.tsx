/** The home of a workspace: what waits for a person, the last 24 hours, recent changes, and the signed history. */
import { getRouteApi } from '@tanstack/react-router'
import { Bot, Play } from 'lucide-react'
import { useMemo } from 'react'
import type { Returned } from '../../keys/messages.ts'
import { Button } from '../../parts/button.tsx'
import { LinkButton } from '../../parts/link_button.tsx'
import { EmptyState } from '../../parts/page/empty_state.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { Screen } from '../../parts/page/screen.tsx'
import { SkeletonRows } from '../../parts/page/skeleton.tsx'
import { useAsk, useRepeatedAsk } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { useWaiting } from '../../waiting.ts'
import { useFirstRunOffer } from '../first_steps/dismissed.ts'
import { useAttention, useHeld } from '../live/hold.ts'
import { ActiveAgents, LastDay, RecentChanges } from './activity.tsx'
import { WaitingRows } from './attention.tsx'
import { HistoryState } from './history_state.tsx'

const route = getRouteApi('/w/$workspaceId/overview')
const words = texts.overview

const EVERY_MS = 60_000

export function Overview() {
  const { workspaceId } = route.useParams()
  const { data, error } = useRepeatedAsk('overview.read', { workspaceId }, EVERY_MS)
  const { waiting, isRead } = useWaiting(workspaceId)
  const agents = useAsk('agents.list', { workspaceId }).data
  const now = useMemo(() => ({ overview: data, items: waiting?.items ?? [] }), [data, waiting])
  const isReady = data !== undefined && isRead
  const { hasAttention, watching } = useAttention()
  // Rows do not move under the pointer.
  const { shown } = useHeld(now, hasAttention, isReady)
  const { overview, items } = shown
  const isNew = agents?.every(({ lastUsedAt }) => lastUsedAt === null) ?? false
  return (
    <Screen title={texts.common.areas.overview} isPage>
      {error && !data ? <FailureNote error={error} /> : null}
      {isNew ? <FirstSteps workspaceId={workspaceId} /> : null}
      {overview && isReady ? (
        <div className="flex flex-col gap-6" {...watching}>
          <WaitingRows workspaceId={workspaceId} overview={overview} items={items} />
          <Activity workspaceId={workspaceId} overview={overview} />
        </div>
      ) : (
        <SkeletonRows count={4} height={56} />
      )}
    </Screen>
  )
}

/** Offered until the first call, or until it is dismissed in this browser. */
function FirstSteps({ workspaceId }: { workspaceId: string }) {
  const { isOffered, dismiss } = useFirstRunOffer(workspaceId)
  if (!isOffered) return null
  return (
    <section className="rounded-card border border-line" aria-label={words.firstSteps}>
      <EmptyState
        icon={Bot}
        title={words.firstCall}
        action={
          <div className="flex gap-2">
            <LinkButton
              kind="primary"
              icon={Play}
              to="/w/$workspaceId/first-steps"
              params={{ workspaceId }}
            >
              {words.firstSteps}
            </LinkButton>
            <Button kind="ghost" onPress={dismiss}>
              {words.dismiss}
            </Button>
          </div>
        }
      />
    </section>
  )
}

type ActivityProps = { workspaceId: string; overview: Returned<'overview.read'> }

function Activity({ workspaceId, overview }: ActivityProps) {
  return (
    <>
      <div className="grid gap-6 wide:grid-cols-[minmax(0,2fr)_minmax(0,1fr)]">
        <LastDay {...{ workspaceId, overview }} />
        <ActiveAgents {...{ workspaceId, overview }} />
      </div>
      <RecentChanges {...{ workspaceId, overview }} />
      <HistoryState {...{ workspaceId }} history={overview.history} />
    </>
  )
}
