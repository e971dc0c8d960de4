import { endTokens } from '../../../client/agents/ending.ts'
import { revokeAgentToken } from '../../../features/agents/contract.ts'
import { command } from '../../command.ts'
import { yes } from '../../options.ts'
import { workspaceScope } from '../../scope.ts'
import { confirmedOnTerminal } from '../../terminal/confirmed.ts'
import { agentTokensOf } from '../../tokens/agent_tokens.ts'
import { agentNamed, revocableToken, revokedText } from '../../tokens/agents.ts'
import { endingIn } from '../../tokens/revoking.ts'

export default command({
  usage: 'revoke <agent> <token>',
  examples: ['token revoke deploy-bot laptop', 'token revoke deploy-bot 0190…'],
  options: [yes],
  action: async (context, [name, typed], options) => {
    const scope = await workspaceScope(context)
    const agent = await agentNamed(context, scope, name)
    const [all, list] = [await agentTokensOf(scope, agent), `token list ${agent.name}`]
    const token = await revocableToken(scope, { agentId: agent.id }, all, typed, list)
    await confirmedOnTerminal(context.host, options, `Revoke ${typed}? You can't undo this.`)
    const params = {
      workspace_id: scope.workspace.id,
      registration_id: agent.id,
      token_id: token.id,
    }
    await endTokens(endingIn(context, scope), [token.id], (link) =>
      scope.session.api.call(revokeAgentToken, { params, body: { link } }),
    )
    context.output.done(revokedText(token), { revoked: token.id })
  },
})
