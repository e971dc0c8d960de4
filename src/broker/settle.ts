/**
 * Decides and records as one. The record is stored only if the token is live and the workspace's policy
 * is still the one that was decided by; otherwise both are read anew and the decision is made again.
 */
import type { Entry } from '../audit/trail.ts'
import { Fault } from '../kernel/fault.ts'
import type { Broker } from './index.ts'
import type { LiveToken } from './tokens.ts'
import { StaleView, type View } from './views.ts'

/** What was decided, and how it stands in the audit. */
export type Settlement<T> = { result: T | Fault; entry: Entry }

/** How often a decision is made anew because the policy changed meanwhile. */
const MAX_ATTEMPTS = 5

/**
 * The decision, once its record is durable.
 *
 * @throws Fault what was decided, `invalid_token`, `audit_unavailable`, `unavailable`
 */
export async function settle<T>(
  broker: Pick<Broker, 'tokens' | 'views' | 'trail'>,
  token: LiveToken,
  decide: (view: View) => Promise<Settlement<T>>,
): Promise<T> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const settled = await attemptOnce(broker, token, decide)
    if (settled?.result instanceof Fault) throw settled.result
    if (settled) return settled.result
    broker.views.forget(token.workspaceId)
    await broker.tokens.confirm(token)
  }
  throw new Fault('unavailable')
}

/** `null` when what was decided by is no longer current: then nothing was stored. */
async function attemptOnce<T>(
  { views, trail }: Pick<Broker, 'views' | 'trail'>,
  token: LiveToken,
  decide: (view: View) => Promise<Settlement<T>>,
): Promise<Settlement<T> | null> {
  try {
    const settlement = await decide(await views.of(token.workspaceId))
    return (await trail.record(settlement.entry)) === 'recorded' ? settlement : null
  } catch (error) {
    if (error instanceof StaleView) return null
    throw error
  }
}
