import { giveKeys } from '../../../client/actions/grant.ts'
import { command } from '../../command.ts'
import { placeOf } from '../../scope.ts'
import { demandEnvironment } from '../../suggestions.ts'
import { chooseAgentToken } from '../../tokens/agent_tokens.ts'

/** Gives a token the key of the chosen project and environment. */
export default command({
  usage: 'grant <agent> <token>',
  examples: ['token grant ops-bot 0190… -p payments -e production'],
  action: async (context, args) => {
    const scope = await chooseAgentToken(context, args)
    await demandEnvironment(scope)
    const { project, environment, agent, token } = scope
    const place = { projectId: project.id, environment }
    await giveKeys(placeOf(scope), { agentId: agent.id }, token, [place])
    context.output.done(`${agent.name} may use ${project.name}/${environment}.`, {
      agent: agent.name,
      token_id: token.id,
      granted: `${project.name}/${environment}`,
    })
  },
})
