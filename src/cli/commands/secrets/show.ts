/** `cloakroom secrets show`: the kind of a secret, and how its renewals went. */
import { readSecret } from '../../../client/environment.ts'
import { approvalInWords } from '../../../client/secrets/policy_in_words.ts'
import type { Policy } from '../../../core/policy/policy.ts'
import { command } from '../../command.ts'
import { environmentOf, projectScope } from '../../scope.ts'
import { onSecret } from '../../suggestions.ts'

/** Null for a secret without `kind`, and before the first renewal (protocol 13.2). */
type DerivedHints = {
  expires_at: string | null
  failed_at: string | null
  failed_code: string | null
} | null

/** Failures after which calls try again by themselves (protocol 13.3); every other one is final. */
const TRANSIENT =
  /^(http_\d+|invalid_answer|answer_too_large|unreachable|timeout|unsupported_token_type|temporarily_unavailable|slow_down|server_error|derivation_failed|domain_blocked|address_blocked|upstream_\w+)$/

export default command({
  usage: 'show <key>',
  examples: ['secrets show GOOGLE_TOKEN', 'secrets show GOOGLE_TOKEN -e production --json'],
  action: async (context, [key]) => {
    const scope = await projectScope(context)
    const stored = await onSecret(scope, key, readSecret(environmentOf(scope), key))
    const policy = (stored.policy ?? null) as Policy | null
    const kind = policy?.kind ?? null
    const approval = approvalInWords(policy)
    const hints = (stored as { derived?: DerivedHints }).derived ?? null
    const { version } = stored
    const { environment } = scope
    if (kind === null) {
      const shown = { key, environment, kind: 'value', version }
      return context.output.record(approval === undefined ? shown : { ...shown, approval })
    }
    const now = (context.host.now ?? Date.now)()
    context.output.record({
      key,
      environment,
      kind,
      version,
      state: stateOf(key, hints, now),
      next_renewal: nextRenewal(hints, now),
      last_error: hints?.failed_code ? `${hints.failed_code} at ${hints.failed_at}` : 'none',
    })
  },
})

function stateOf(key: string, hints: DerivedHints, now: number): string {
  if (hints?.failed_code) {
    if (TRANSIENT.test(hints.failed_code)) return `failed with ${hints.failed_code}`
    return `reconnect required: cloakroom secrets reconnect ${key}`
  }
  if (!hints?.expires_at) return 'never renewed'
  const isValid = Date.parse(hints.expires_at) > now
  return `${isValid ? 'valid until' : 'expired at'} ${hints.expires_at}`
}

/** Only a call renews, so there is no moment at which it happens by itself. */
function nextRenewal(hints: DerivedHints, now: number): string {
  if (hints?.failed_code && !TRANSIENT.test(hints.failed_code)) return 'none'
  const isValid = hints?.expires_at && Date.parse(hints.expires_at) > now
  return isValid ? `with a call shortly before ${hints.expires_at}` : 'with the next call'
}
