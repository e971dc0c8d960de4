/** The response to unexpected errors: nothing but a code. */

import { Fault } from '../core/fault.ts'
import { describeError, type Log } from '../core/log.ts'
import { toUsedIdFault, unavailableFault } from '../database/errors.ts'

/** Faults pass; a lost database is 503; anything else is a defect that the caller learns nothing of. */
export function toFault(error: unknown, requestId: string, log: Log): Fault {
  if (error instanceof Fault && error.status !== 500) return error
  const used = toUsedIdFault(error)
  if (used) return used
  const fault = unavailableFault(error) ?? new Fault('internal_error', { cause: error })
  const origin = error instanceof Fault ? (error.cause ?? error) : error
  log.error('request failed', {
    request_id: requestId,
    error_code: fault.code,
    ...describeError(origin),
  })
  return fault
}
