import { allowlistChange } from '../../../client/signed/allowlist.ts'
import { addToAllowlist } from '../../../features/allowlist/contract.ts'
import { command } from '../../command.ts'
import { workspaceScope } from '../../scope.ts'

export default command({
  usage: 'add <domains...>',
  examples: ['allowlist add api.stripe.com *.example.com api.internal:8443'],
  action: async (context, domains) => {
    const { session, workspace } = await workspaceScope(context)
    const params = { workspace_id: workspace.id }
    const added = await session.sign(
      workspace,
      (chain) => allowlistChange(chain, { add: domains }),
      (link) => session.api.call(addToAllowlist, { params, body: { domains, link } }),
    )
    context.output.done(
      added.length > 0
        ? `Allowed: ${added.map(({ domain }) => domain).join(', ')}`
        : 'All of it was allowed already.',
      added,
    )
  },
})
