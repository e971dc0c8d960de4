import { removeAgent } from '../../../client/actions/end_tokens.ts'
import { command } from '../../command.ts'
import { yes } from '../../options.ts'
import { workspaceScope } from '../../scope.ts'
import { forgetToken } from '../../session/saved_tokens.ts'
import { formatCount, requireConfirmation } from '../../terminal/confirmed.ts'
import { agentNamed } from '../../tokens/agents.ts'
import { endTokensIn } from '../../tokens/revoking.ts'

export default command({
  usage: 'delete <agent>',
  examples: ['agent delete deploy-bot --yes'],
  options: [yes],
  action: async (context, [name], options) => {
    const scope = await workspaceScope(context)
    const agent = await agentNamed(context, scope, name)
    await requireConfirmation(
      context.host,
      options,
      `Delete the agent ${agent.name} and revoke its tokens?`,
    )
    const { session } = scope
    const revoked = await removeAgent(endTokensIn(context, scope), agent.id)
    session.knownNames.forget(agent.id)
    await forgetToken(context, session, agent.id)
    const ended =
      revoked === null
        ? '; its tokens are now rejected.'
        : `, and revoked ${formatCount(revoked, 'token')}.`
    context.output.done(`Deleted ${agent.name}${ended}`, {
      deleted: agent.name,
      id: agent.id,
    })
  },
})
