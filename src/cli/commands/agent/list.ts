import { command } from '../../command.ts'
import { projectNames, workspaceScope } from '../../scope.ts'
import { ID } from '../../terminal/table.ts'
import { agentsOf } from '../../tokens/agents.ts'

export default command({
  usage: 'list',
  examples: ['agent list'],
  action: async (context) => {
    const scope = await workspaceScope(context)
    const agents = await agentsOf(scope)
    const projects = await projectNames(scope)
    const rows = agents.map((agent) => ({
      ...agent,
      project: agent.project_id === null ? 'all' : (projects.get(agent.project_id) ?? '(deleted)'),
      tokens: `${agent.active_token_count} of ${agent.token_count}${agent.has_more_tokens ? '+' : ''}`,
    }))
    const columns = [
      { field: 'name', whole: true },
      'project',
      { field: 'tokens', title: 'active tokens' },
      'last_used_at',
      ID,
    ] as const
    context.output.table(rows, columns, agents)
  },
})
