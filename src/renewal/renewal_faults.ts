/** Faults that callers get while a credential is not renewed, and the notice of a final failure. */
import { commandFix, Fault } from '../core/fault.ts'
import type { Notice } from '../notices/notice.ts'
import type { LeaseResult } from './leases.ts'
import type { Renewal } from './renewal.ts'

type Failure = Exclude<LeaseResult, { kind: 'taken' } | { kind: 'stale' }>

/** Milliseconds after which a final failure is looked up again: another process may have seen a new root. */
const FINAL_MS = 10_000
const MAX_WAIT_MS = 3_600_000

/** The fault, and for how many milliseconds it holds without another look. `now` by the database's clock. */
export function faultOfFailure(
  name: string,
  failure: Failure,
  now: number = Date.now(),
): { fault: Fault; waitMs: number } {
  if (failure.kind === 'final') return { fault: reconnectRequired(name, failure), waitMs: FINAL_MS }
  const retryAt = failure.kind === 'waiting' ? failure.retryAt : now
  // No row can make a caller wait for longer than an endpoint may require.
  const waitMs = Math.min(Math.max(1000, retryAt - now), MAX_WAIT_MS)
  const fault = new Fault('derivation_failed', {
    message: `The credential ${name} could not be renewed. Retry later.`,
    headers: { 'retry-after': String(Math.ceil(waitMs / 1000)) },
  })
  return { fault, waitMs }
}

/** Leaves out the stored code: no text of a database reaches a caller. */
function reconnectRequired(
  name: string,
  { failedAt, mayHaveLost }: Extract<Failure, { kind: 'final' }>,
): Fault {
  const time = new Date(failedAt)
  const at = Number.isNaN(time.getTime()) ? '' : ` at ${time.toISOString()}`
  const lost = mayHaveLost
    ? ' An earlier response was lost, and may have contained a new refresh token.'
    : ''
  return new Fault('reconnect_required', {
    message: `The provider refused to renew ${name}${at}.${lost} Connect it again.`,
    fix: commandFix('secrets', 'reconnect', name),
  })
}

/** Once for each state that could not be renewed. */
export function buildFinalNotice({ place, generation }: Renewal): Notice {
  const { projectId, environment, key } = place
  return {
    event: 'reconnect.required',
    cause: `reconnect.required/${projectId}/${environment}/${generation}/${key}`,
    fields: { secrets: [key], environment, command: `cloakroom secrets reconnect ${key}` },
  }
}
