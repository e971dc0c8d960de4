/** `cloakroom secrets show`: the kind of a secret, and how its renewals went. */
import { readSecret } from '../../../client/environment.ts'
import { approvalInWords } from '../../../client/secrets/policy_in_words.ts'
import { type RenewalState, renewalOf } from '../../../client/secrets/renewal_state.ts'
import type { Policy } from '../../../core/policy/policy.ts'
import { command } from '../../command.ts'
import { environmentOf, projectScope } from '../../scope.ts'
import { onSecret } from '../../suggestions.ts'

export default command({
  usage: 'show <key>',
  examples: ['secrets show GOOGLE_TOKEN', 'secrets show GOOGLE_TOKEN -e production --json'],
  action: async (context, [key]) => {
    const scope = await projectScope(context)
    const stored = await onSecret(scope, key, readSecret(environmentOf(scope), key))
    const policy = (stored.policy ?? null) as Policy | null
    const approval = approvalInWords(policy)
    const now = (context.host.now ?? Date.now)()
    const renewal = renewalOf(policy, stored.derived, now)
    const { version } = stored
    const { environment } = scope
    if (renewal === null) {
      const shown = { key, environment, kind: 'value', version }
      return context.output.record(approval === undefined ? shown : { ...shown, approval })
    }
    const { failedCode, failedAt } = renewal
    context.output.record({
      key,
      environment,
      kind: renewal.kind,
      version,
      state: stateInWords(key, renewal),
      next_renewal: describeNextRenewal(renewal, now),
      last_error: failedCode ? `${failedCode} at ${failedAt}` : 'none',
    })
  },
})

function stateInWords(key: string, { state, until, failedCode }: RenewalState): string {
  const words = {
    new: 'never renewed',
    valid: `valid until ${until}`,
    expired: `expired at ${until}`,
    retrying: `failed with ${failedCode}`,
    reconnect: `reconnect required: cloakroom secrets reconnect ${key}`,
  }
  return words[state]
}

/** Only a call renews, so there is no moment at which it happens by itself. */
function describeNextRenewal({ state, until }: RenewalState, now: number): string {
  if (state === 'reconnect') return 'none'
  const isValid = until !== null && Date.parse(until) > now
  return isValid ? `by a call shortly before ${until}` : 'with the next call'
}
