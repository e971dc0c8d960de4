/** Counts the items that wait for a decision. A separate component, so that a new count does not render the frame. */
import { texts } from '../texts/index.ts'
import { useWaiting } from '../waiting.ts'

/** `isDot` for the tabs of a phone. */
export function WaitingCount({
  workspaceId,
  isDot = false,
}: {
  workspaceId: string
  isDot?: boolean
}) {
  const { waiting } = useWaiting(workspaceId)
  const count = waiting?.items.length ?? 0
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
