/** Explains why a response was cut off, also after its headers were sent. */
import { Fault } from '../../core/fault.ts'
import { causeOf, upstreamFault } from '../connection/fetch.ts'
import type { CallDeadline } from '../deadline.ts'

/** Returns the fault for a response that was cut off. */
export function toBreakingFault(error: unknown, deadline: CallDeadline): Fault {
  if (deadline.refusal) return deadline.refusal
  const isLate =
    deadline.signal.aborted || (error instanceof DOMException && error.name === 'TimeoutError')
  const cause = causeOf(error)
  if (isLate) return new Fault('upstream_timeout', { cause })
  if (/^Z_|^ERR_/.test(cause.code)) return new Fault('upstream_protocol_error', { cause })
  return upstreamFault(error)
}
