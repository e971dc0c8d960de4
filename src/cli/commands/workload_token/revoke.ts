import { endToken } from '../../../client/actions/end_tokens.ts'
import { command } from '../../command.ts'
import { yes } from '../../options.ts'
import { projectScope } from '../../scope.ts'
import { requireConfirmationOnTerminal } from '../../terminal/confirmed.ts'
import { workloadTokensOf } from '../../tokens/agent_tokens.ts'
import { formatRevoked, revocableToken } from '../../tokens/agents.ts'
import { endTokensIn } from '../../tokens/revoking.ts'

export default command({
  usage: 'revoke <token>',
  examples: ['workload-token revoke ci', 'workload-token revoke 0190…'],
  options: [yes],
  action: async (context, [typed], options) => {
    const scope = await projectScope(context)
    const owner = { projectId: scope.project.id }
    const all = await workloadTokensOf(scope)
    const token = await revocableToken(scope, owner, all, typed, 'workload-token list')
    await requireConfirmationOnTerminal(
      context.host,
      options,
      `Revoke ${typed}? You can't undo this.`,
    )
    await endToken(endTokensIn(context, scope), owner, token.id)
    context.output.done(formatRevoked(token), { revoked: token.id })
  },
})
