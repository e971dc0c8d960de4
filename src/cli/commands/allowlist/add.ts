import { allowHosts } from '../../../client/actions/allowlist.ts'
import { command } from '../../command.ts'
import { placeOf, workspaceScope } from '../../scope.ts'

export default command({
  usage: 'add <domains...>',
  examples: ['allowlist add api.stripe.com *.example.com api.internal:8443'],
  action: async (context, domains) => {
    const added = await allowHosts(placeOf(await workspaceScope(context)), domains)
    context.output.done(
      added.length > 0
        ? `Allowed: ${added.map(({ domain }) => domain).join(', ')}`
        : 'All hosts were already allowed.',
      added,
    )
  },
})
