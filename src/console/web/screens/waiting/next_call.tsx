/** After a signature: waits for the call that it lets through, and shows its result. */
import { CircleCheck, LoaderCircle } from 'lucide-react'
import { Icon } from '../../parts/icon.tsx'
import { texts } from '../../texts/index.ts'
import { CallLine } from '../live/call_line.tsx'
import type { LiveCall } from '../live/stream.ts'

const words = texts.waiting

type Props = {
  /** All calls until now, the newest first. */
  calls: readonly LiveCall[]
  /** The newest call before the signature. */
  lastId: string
  isNext(call: LiveCall): boolean
  /** Instead of "Waiting for the next call". */
  text?: string
}

export function NextCall({ calls, lastId, isNext, text = words.next }: Props) {
  const next = calls.findLast((call) => call.id > lastId && isNext(call))
  const said = next ? saidOf(next) : text
  const isWaiting = said === words.next
  const look = said === words.refusedAgain ? 'bg-amber-soft' : 'bg-green-soft'
  return (
    <div className={`mx-4 mb-3.5 flex flex-col gap-2 rounded-control px-3 py-2.5 ${look}`}>
      <p role="status" className="flex items-center gap-2 font-medium">
        <Icon of={isWaiting ? LoaderCircle : CircleCheck} />
        {said}
      </p>
      {next ? <CallLine call={next} /> : null}
    </div>
  )
}

function saidOf({ decision }: LiveCall): string {
  return decision === 'allowed' ? words.passed : words.refusedAgain
}
