/**
 * Prevents retries by SDKs. A POST or PATCH that an API may have executed must not be sent twice, so its failure is
 * answered with `X-Should-Retry: false` (protocol 6.3), in every mode of calls.
 */
import { Fault } from '../core/fault.ts'

const REPEATABLE = ['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS']
/** An established connection can also end with it. */
const MAYBE_SENT = 'ETIMEDOUT'

/** Returns the fault of an allowed call, marked if the call may have reached the API. */
export function faultAfterSending(method: string, fault: Fault): Fault {
  return mayRepeat(method) || wasNotSent(fault) ? fault : withoutRetry(fault)
}

/** Whether a call of this method may be sent again, with any outcome of the first one. */
export function mayRepeat(method: string): boolean {
  return REPEATABLE.includes(method)
}

/** Marks the fault so that no SDK retries the call. */
export function withoutRetry(fault: Fault): Fault {
  const { code, message, fields, refusedBy, cause } = fault
  const headers = { ...fault.headers, 'x-should-retry': 'false' }
  return new Fault(code, { message, fields, headers, refusedBy: refusedBy ?? undefined, cause })
}

/** No connection was established. */
function wasNotSent({ code, cause }: Fault): boolean {
  const isOfConnection = code === 'upstream_unreachable' || code === 'upstream_tls_error'
  return isOfConnection && !(cause instanceof Error && 'code' in cause && cause.code === MAYBE_SENT)
}
