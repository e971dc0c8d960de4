/** From an empty workspace to an agent's first call: three steps on one page. */
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { useIsMember, useManages } from '../../manages.ts'
import { Banner } from '../../parts/page/banner.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { NotFound } from '../../parts/page/not_found.tsx'
import { Screen } from '../../parts/page/screen.tsx'
import { SkeletonRows } from '../../parts/page/skeleton.tsx'
import { useAsk } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import type { Starter } from './blocks.ts'
import { FirstCallStep } from './call.tsx'
import { useCreated } from './created.ts'
import { useFirstRunOffer } from './dismissed.ts'
import { type FirstRunProgress, StarterChoice, StartForm } from './start_form.tsx'
import { Step } from './step.tsx'

const route = getRouteApi('/w/$workspaceId/first-steps')
const words = texts.firstSteps

export function FirstSteps() {
  const { workspaceId } = route.useParams()
  const navigate = route.useNavigate()
  const { data: progress, error } = useAsk('first_steps.progress', { workspaceId })
  const isManager = useManages(workspaceId)
  const isMember = useIsMember(workspaceId)
  const { isOffered, dismiss } = useFirstRunOffer(workspaceId)
  if (isMember === false) return <NotFound />
  const skip = {
    id: 'skip',
    label: words.skip,
    act: () => {
      dismiss()
      void navigate({ to: '/w/$workspaceId/overview', params: { workspaceId } })
    },
  }
  return (
    <Screen title={words.title} secondary={isOffered ? [skip] : []} isPage>
      {isManager === false ? <Banner>{words.askAdmin}</Banner> : null}
      {error ? <FailureNote error={error} /> : null}
      {progress && isManager ? <Steps workspaceId={workspaceId} progress={progress} /> : null}
      {progress || error ? null : <SkeletonRows count={6} />}
    </Screen>
  )
}

function Steps({ workspaceId, progress }: { workspaceId: string; progress: FirstRunProgress }) {
  const [starter, setStarter] = useState<Starter>('claude-code')
  const created = useCreated(workspaceId)
  const { secret, host } = progress
  const isReady = created !== null && secret !== null && host !== null
  return (
    <ol className="flex max-w-240 flex-col gap-6">
      {isReady ? (
        <>
          <Step number={1} title={words.key.title} isDone>
            <p className="text-ink-2">{words.key.done(secret, host)}</p>
          </Step>
          <Step number={2} title={words.choice.title} isDone>
            <StarterChoice value={starter} onChange={setStarter} />
          </Step>
          <Step number={3} title={words.call.title} isCurrent>
            <FirstCallStep {...{ workspaceId, secret, host, starter, tokenId: created }} />
          </Step>
        </>
      ) : (
        <>
          <StartForm {...{ workspaceId, progress, starter, setStarter }} />
          <Step number={3} title={words.call.title}>
            <p className="text-ink-3">{words.call.later}</p>
          </Step>
        </>
      )}
    </ol>
  )
}
