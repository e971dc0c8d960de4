/** Requests and proposals that wait for a decision. Its own file keeps a new count from rendering the frame again. */
import { useRepeatedAsk } from '../queries.ts'
import { texts } from '../texts/index.ts'

/** Slower than the screen of live requests, which shows the same answer. */
const EVERY_MS = 15_000

/** `isDot` for the tabs of a phone. */
export function WaitingCount({
  workspaceId,
  isDot = false,
}: {
  workspaceId: string
  isDot?: boolean
}) {
  const { data } = useRepeatedAsk('approvals.waiting', { workspaceId }, EVERY_MS)
  const count = (data?.requests.length ?? 0) + (data?.proposals.length ?? 0)
  if (count === 0) return null
  const look = isDot
    ? 'absolute top-2 left-[calc(50%+6px)] size-2 rounded-full bg-red-solid'
    : 'ml-auto rounded-[8px] bg-red-soft px-1.5 text-caption font-semibold text-red'
  return (
    <span className={look}>
      <span aria-hidden="true">{isDot ? '' : count}</span>
      <span className="sr-only">{texts.waiting.count(count)}</span>
    </span>
  )
}
