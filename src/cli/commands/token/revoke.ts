import { endToken } from '../../../client/actions/end_tokens.ts'
import { command } from '../../command.ts'
import { yes } from '../../options.ts'
import { workspaceScope } from '../../scope.ts'
import { requireConfirmationOnTerminal } from '../../terminal/confirmed.ts'
import { agentTokensOf } from '../../tokens/agent_tokens.ts'
import { agentNamed, formatRevoked, revocableToken } from '../../tokens/agents.ts'
import { endTokensIn } from '../../tokens/revoking.ts'

export default command({
  usage: 'revoke <agent> <token>',
  examples: ['token revoke deploy-bot laptop', 'token revoke deploy-bot 0190…'],
  options: [yes],
  action: async (context, [name, typed], options) => {
    const scope = await workspaceScope(context)
    const agent = await agentNamed(context, scope, name)
    const [all, list] = [await agentTokensOf(scope, agent), `token list ${agent.name}`]
    const token = await revocableToken(scope, { agentId: agent.id }, all, typed, list)
    await requireConfirmationOnTerminal(
      context.host,
      options,
      `Revoke ${typed}? You can't undo this.`,
    )
    await endToken(endTokensIn(context, scope), { agentId: agent.id }, token.id)
    context.output.done(formatRevoked(token), { revoked: token.id })
  },
})
