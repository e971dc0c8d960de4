import { unprovisionAgentToken } from '../../../features/agents/contract.ts'
import { command } from '../../command.ts'
import { chooseAgentToken } from '../../tokens/agent_tokens.ts'

/** Removes the key of the selected project and environment. */
export default command({
  usage: 'ungrant <agent> <token>',
  examples: ['token ungrant ops-bot laptop -p payments -e production'],
  action: async (context, args) => {
    const scope = await chooseAgentToken(context, args)
    const { session, workspace, project, environment, agent, token, params } = scope
    const query = { project_id: project.id, environment }
    await session.api.call(unprovisionAgentToken, { params, query })
    const place = `${project.name}/${environment}`
    context.output.done(`${agent.name} may no longer use ${place}.`, {
      agent: agent.name,
      token_id: token.id,
      taken_away: place,
    })
    if (workspace.chains)
      context.output.note(
        'This change is not signed. Someone with write access to the database can undo it until you revoke the token or rekey the workspace.',
      )
  },
})
