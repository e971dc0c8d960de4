import { command } from '../../command.ts'
import { change } from '../../policies/change.ts'
import { withoutFields } from '../../policies/fields.ts'

export default command({
  usage: 'clear <key> [fields...]',
  examples: ['policy clear STRIPE_KEY', 'policy clear STRIPE_KEY paths methods'],
  action: async (context, [key, ...words]) => {
    withoutFields(null, words)
    return change(context, key, async ({ policy }) => withoutFields(policy, words))
  },
})
