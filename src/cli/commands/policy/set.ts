import { command } from '../../command.ts'
import { policyFieldOptions, sensitivityOptions, yes } from '../../options.ts'
import { change } from '../../policies/change.ts'
import { withFields } from '../../policies/fields.ts'
import { CliError } from '../../terminal/cli_error.ts'
import { marked } from '../../values/references.ts'
import { choiceOf, classified } from '../../values/sensitivity.ts'

export default command({
  usage: 'set <key>',
  examples: [
    'policy set STRIPE_KEY --domains api.stripe.com --methods GET,POST --paths /v1',
    'policy set MAPS_KEY --locations query',
    'policy set GITHUB_TOKEN --read-only',
    'policy set LINEAR_KEY --operations query,mutation:issueCreate',
    'policy set DEPLOY_KEY --locations env',
    "policy set HOOK_SECRET --locations sign --sign-templates '{timestamp}.{body}'",
  ],
  options: [...policyFieldOptions, ...sensitivityOptions, yes],
  action: async (context, [key], options) => {
    const choice = choiceOf(options)
    if (Object.values(withFields(null, options) ?? {}).length === 0 && choice === 'by value') {
      const hint = `example: cloakroom policy set ${key} --domains api.stripe.com --methods POST`
      throw new CliError('usage', 'say what is to change', hint)
    }
    return change(context, key, async ({ policy, value }, scope) => {
      const candidate = { key, value, policy: withFields(policy, options) }
      const entries = classified(context, [{ ...candidate, policyIs: 'decided' }], choice)
      const [entry] = await marked(context, scope, entries, options)
      return entry?.policy ?? null
    })
  },
})
