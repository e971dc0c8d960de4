/** The title and status of the inspector of a refused call. */
import type { Returned } from '../../keys/messages.ts'
import { Status } from '../../parts/show/status.tsx'
import { texts } from '../../texts/index.ts'
import { CallStatus } from './call.tsx'
import type { LiveCall } from './stream.ts'

type Proposed = Returned<'live.propose'>

const words = texts.live

/** The title stays after the signature, since it names the inspector. */
export function refusedHeading(call: LiveCall, proposed: Proposed | undefined, isSigned: boolean) {
  const status = isSigned ? (
    <Status tone="green">{words.isAllowed}</Status>
  ) : (
    <CallStatus call={call} />
  )
  return { title: titleOf(call, proposed), status }
}

function titleOf(call: LiveCall, proposed: Proposed | undefined): string {
  const change = proposed?.change
  if (change?.kind === 'allowlist') return words.allowHost(change.domain)
  if (change?.kind === 'policy') return words.allowEntry(change.entry, change.secret)
  if (change?.kind === 'grant') return words.giveKey(call.agent_id)
  return words.refusedCall(call.agent_id || words.anonymous)
}
