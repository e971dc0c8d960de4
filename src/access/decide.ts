/**
 * Decides and records as one. The record is stored only if the token is live and the workspace's policy
 * is still the one that was decided by; otherwise both are read anew and the decision is made again.
 */
import { Fault } from '../platform/fault.ts'
import type { Broker } from './index.ts'
import type { Decide, Settlement } from './locked_decision.ts'
import { StaleView } from './snapshots.ts'
import type { LiveToken } from './tokens.ts'

/**
 * Milliseconds for which a decision is made anew while the policy keeps changing: every write of a
 * secret counts as a change, and an import must not stop the workspace's agents.
 */
const PATIENCE_MS = 5_000
/** After so many attempts the workspace's writers have to wait for one decision. */
const FREE_ATTEMPTS = 2

type Deciding = Pick<Broker, 'tokens' | 'views' | 'trail' | 'pin'>

/**
 * The decision, once its record is durable.
 *
 * @throws Fault what was decided, `invalid_token`, `audit_unavailable`, `unavailable`
 */
export async function settle<T>(broker: Deciding, token: LiveToken, decide: Decide<T>): Promise<T> {
  const started = performance.now()
  for (let attempt = 1; performance.now() - started < PATIENCE_MS; attempt += 1) {
    const isPinned = attempt > FREE_ATTEMPTS
    const settled = await attemptOnce(broker, token, decide, isPinned)
    if (settled?.result instanceof Fault) throw settled.result
    if (settled) return settled.result
    broker.views.forget(token.workspaceId)
    await broker.tokens.confirm(token)
  }
  throw new Fault('unavailable')
}

/** `null` when what was decided by is no longer current: then nothing was stored. */
async function attemptOnce<T>(
  { views, trail, pin }: Deciding,
  token: LiveToken,
  decide: Decide<T>,
  isPinned: boolean,
): Promise<Settlement<T> | null> {
  try {
    if (isPinned) return await pin(token, decide)
    const settlement = await decide(await views.of(token.workspaceId), views)
    return (await trail.record(settlement.entry)) === 'recorded' ? settlement : null
  } catch (error) {
    if (error instanceof StaleView) return null
    throw error
  }
}
