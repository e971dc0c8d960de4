/** Whether calls arrive: live, paused, reconnecting or ended, and whether some were missed. */
import { Link } from '@tanstack/react-router'
import { AskError } from '../../keys/ask.ts'
import { Button } from '../../parts/button.tsx'
import { Banner } from '../../parts/page/banner.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { Status } from '../../parts/show/status.tsx'
import { texts } from '../../texts/index.ts'
import type { LiveFeedState } from './stream.ts'

const words = texts.live

const TONES = { opening: 'neutral', open: 'green', waiting: 'amber', ended: 'red' } as const

export function LiveState({
  state,
  isPaused,
}: {
  state: LiveFeedState['state']
  isPaused: boolean
}) {
  const isStill = isPaused && state === 'open'
  return (
    <span role="status" title={state === 'waiting' ? words.reconnectHelp : undefined}>
      <Status tone={isStill ? 'neutral' : TONES[state]} dot>
        {isStill ? words.paused : words.states[state]}
      </Status>
    </span>
  )
}

export function StreamEnded({
  live: { state, code },
  again,
}: {
  live: LiveFeedState
  again(): void
}) {
  if (state !== 'ended') return null
  const failure = { code: code ?? '', message: words.ended, fields: [], requestId: null }
  return (
    <div className="flex flex-col items-start gap-3 px-5 pt-3 phone:px-4">
      <FailureNote error={new AskError(failure)} />
      <Button onPress={again}>{words.again}</Button>
    </div>
  )
}

export function Gap({ workspaceId }: { workspaceId: string }) {
  return (
    <div className="px-5 pt-3 phone:px-4">
      <Banner kind="warning">
        <p>
          {words.gap}{' '}
          <Link to="/w/$workspaceId/audit" params={{ workspaceId }} className="underline">
            {words.toAudit}
          </Link>
        </p>
      </Banner>
    </div>
  )
}
