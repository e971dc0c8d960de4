/** Refusals of calls that need an approval. */
import { repeatsSecret } from '../../access/repeats_secret.ts'
import type { LiveToken } from '../../access/tokens.ts'
import type { Clock } from '../../core/clock.ts'
import { buildFieldFault, Fault } from '../../core/fault.ts'
import type { Guard } from '../../leak_guard/index.ts'

const RETRY_AFTER_S = '10'

/** Names no command, because a program reads this, and a person decides. */
export function buildRequiredFault({ id, expiresAt }: { id: string; expiresAt: number }): Fault {
  const expires_at = new Date(expiresAt).toISOString()
  return new Fault('approval_required', {
    message: `A member must approve this use first. Ask the person you work for to review request ${id}. Do not approve it yourself. Then send the same request again.`,
    approval: { id, expires_at },
    headers: { 'retry-after': RETRY_AFTER_S },
  })
}

export function buildDeniedFault({ until }: { until: number }, clock: Clock): Fault {
  const at = new Date(until).toISOString()
  const seconds = Math.max(1, Math.ceil((until - clock.now()) / 1000))
  return new Fault('approval_denied', {
    message: `A member denied this call. It is refused until ${at}.`,
    headers: { 'retry-after': String(seconds) },
  })
}

/** Refuses a reason with guarded values, because members read it. @throws Fault `validation_error` */
export function requireClean(reason: string, token: LiveToken, guard: Guard): void {
  const isClean = guard.forCall({ used: [], made: [] }).headerValue(reason) === reason
  if (!isClean || repeatsSecret(reason, token.secretText()))
    throw buildFieldFault('reason', 'must not contain a token or a secret value')
}
