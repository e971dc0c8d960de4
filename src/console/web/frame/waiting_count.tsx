/** The number in the navigation: requests that verify, and open proposals. Its own file keeps a new answer from drawing the frame again. */
import { useRepeatedAsk } from '../queries.ts'
import { texts } from '../texts/index.ts'

/** Slower than the screen of live requests, which shows the same answer. */
const EVERY_MS = 15_000

export function WaitingCount({ workspaceId }: { workspaceId: string }) {
  const { data } = useRepeatedAsk('approvals.waiting', { workspaceId }, EVERY_MS)
  const count = (data?.requests.length ?? 0) + (data?.proposals.length ?? 0)
  if (count === 0) return null
  return (
    <>
      {' '}
      <span className="badge badge-warning">
        <span aria-hidden="true">{count}</span>
        <span className="unseen">{texts.waiting.count(count)}</span>
      </span>
    </>
  )
}
