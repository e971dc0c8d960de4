import { policyInWords } from '../../../client/secrets/policy_in_words.ts'
import { isSensitive } from '../../../core/policy/policy.ts'
import { command } from '../../command.ts'
import { readProvenSecret } from '../../policies/change.ts'
import { showFields } from '../../policies/fields.ts'
import { projectScope } from '../../scope.ts'

export default command({
  usage: 'show <key>',
  examples: ['policy show STRIPE_KEY', 'policy show STRIPE_KEY -e production --json'],
  action: async (context, [key]) => {
    const scope = await projectScope(context)
    const { policy, version } = await readProvenSecret(scope, key)
    const { environment } = scope
    const words = policyInWords(policy)
    if (context.output.isJson) {
      context.output.record({ key, environment, version, policy, in_words: words })
      return
    }
    const kind = isSensitive(policy) ? 'secret' : 'setting'
    const inShort = words || 'no restrictions'
    context.output.record({ key, environment, kind, policy: inShort, ...showFields(policy) })
  },
})
