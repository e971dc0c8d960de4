import { endTokens } from '../../../client/agents/ending.ts'
import { deleteAgent } from '../../../features/agents/contract.ts'
import { isSignedId } from '../../../sigchain/index.ts'
import { command } from '../../command.ts'
import { yes } from '../../options.ts'
import { type WorkspaceScope, workspaceScope } from '../../scope.ts'
import { forgetToken } from '../../session/saved_tokens.ts'
import { confirmed, counted } from '../../terminal/confirmed.ts'
import { agentTokensOf } from '../../tokens/agent_tokens.ts'
import { agentNamed } from '../../tokens/agents.ts'
import { endingIn } from '../../tokens/revoking.ts'

export default command({
  usage: 'delete <agent>',
  examples: ['agent delete deploy-bot --yes'],
  options: [yes],
  action: async (context, [name], options) => {
    const scope = await workspaceScope(context)
    const agent = await agentNamed(context, scope, name)
    await confirmed(context.host, options, `Delete the agent ${agent.name} and revoke its tokens?`)
    const params = { workspace_id: scope.workspace.id, registration_id: agent.id }
    const { session, workspace } = scope
    const live = isSignedId(workspace.id) ? await liveTokens(scope, agent) : []
    await endTokens(endingIn(context, scope), live, (link) =>
      session.api.call(deleteAgent, { params, body: { link } }),
    )
    session.knownNames.forget(agent.id)
    await forgetToken(context, scope.session, agent.id)
    const ended = isSignedId(workspace.id)
      ? `, and revoked ${counted(live.length, 'token')}.`
      : '; its tokens are refused from now on.'
    context.output.done(`Deleted ${agent.name}${ended}`, {
      deleted: agent.name,
      id: agent.id,
    })
  },
})

/** Of which the server ends all, also those that are over by now. */
async function liveTokens(scope: WorkspaceScope, agent: { id: string }): Promise<string[]> {
  const tokens = await agentTokensOf(scope, agent)
  return tokens.flatMap(({ id, status }) => (status === 'revoked' ? [] : id))
}
