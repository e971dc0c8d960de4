import { endTokens } from '../../../client/agents/ending.ts'
import { revokeWorkloadToken } from '../../../features/agents/contract.ts'
import { command } from '../../command.ts'
import { yes } from '../../options.ts'
import { projectScope } from '../../scope.ts'
import { confirmedOnTerminal } from '../../terminal/confirmed.ts'
import { workloadTokensOf } from '../../tokens/agent_tokens.ts'
import { revocableToken, revokedText } from '../../tokens/agents.ts'
import { endingIn } from '../../tokens/revoking.ts'

export default command({
  usage: 'revoke <token>',
  examples: ['workload-token revoke ci', 'workload-token revoke 0190…'],
  options: [yes],
  action: async (context, [typed], options) => {
    const scope = await projectScope(context)
    const owner = { projectId: scope.project.id }
    const all = await workloadTokensOf(scope)
    const token = await revocableToken(scope, owner, all, typed, 'workload-token list')
    await confirmedOnTerminal(context.host, options, `Revoke ${typed}? You can't undo this.`)
    const params = { project_id: scope.project.id, token_id: token.id }
    await endTokens(endingIn(context, scope), [token.id], (link) =>
      scope.session.api.call(revokeWorkloadToken, { params, body: { link } }),
    )
    context.output.done(revokedText(token), { revoked: token.id })
  },
})
