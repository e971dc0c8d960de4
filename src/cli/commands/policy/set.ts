import { command } from '../../command.ts'
import { approvalOptions, policyFieldOptions, sensitivityOptions, yes } from '../../options.ts'
import { changesApproval, withApproval } from '../../policies/approval.ts'
import { change } from '../../policies/change.ts'
import { withFields } from '../../policies/fields.ts'
import { CliError } from '../../terminal/cli_error.ts'
import { markReferences } from '../../values/references.ts'
import { choiceOf, classifyEntries } from '../../values/sensitivity.ts'

export default command({
  usage: 'set <key>',
  examples: [
    'policy set STRIPE_KEY --domains api.stripe.com --methods GET,POST --paths /v1',
    'policy set MAPS_KEY --locations query',
    'policy set GITHUB_TOKEN --read-only',
    'policy set LINEAR_KEY --operations query,mutation:issueCreate',
    'policy set DEPLOY_KEY --locations env',
    'policy set PAYOUT_KEY --approval member --approval-ttl 15m',
    "policy set HOOK_SECRET --locations sign --sign-templates '{timestamp}.{body}'",
  ],
  options: [...policyFieldOptions, ...approvalOptions, ...sensitivityOptions, yes],
  action: async (context, [key], options) => {
    const choice = choiceOf(options)
    const isNothing =
      Object.values(withFields(null, options) ?? {}).length === 0 && !changesApproval(options)
    if (isNothing && choice === 'by value') {
      const hint = `example: cloakroom policy set ${key} --domains api.stripe.com --methods POST`
      throw new CliError('usage', 'name at least one policy field', hint)
    }
    return change(context, key, async ({ policy, value }, scope) => {
      const next = withApproval(key, withFields(policy, options), options)
      const candidate = { key, value, policy: next }
      const entries = classifyEntries(context, [{ ...candidate, policyIs: 'decided' }], choice)
      const [entry] = await markReferences(context, scope, entries, options)
      return entry?.policy ?? null
    })
  },
})
