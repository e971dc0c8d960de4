/** The pause of `approvals watch` between two readings of the list. */
import { isBusy } from '../../client/actions/approvals.ts'

const POLL_MS = 2_500
const MAX_POLL_MS = 60_000

/** Twice as long after each failure in a row, and at least as long as a busy server asks for. */
export function pollWaitMs(failures: number, error: unknown): number {
  const asked = isBusy(error) ? (error.retryAfterMs ?? 0) : 0
  return Math.min(MAX_POLL_MS, Math.max(asked, POLL_MS * 2 ** failures))
}
