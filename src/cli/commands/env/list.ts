import { listEnvironments } from '../../../features/projects/contract.ts'
import { command } from '../../command.ts'
import { projectScope } from '../../scope.ts'

export default command({
  usage: 'list',
  examples: ['env list'],
  action: async (context) => {
    const { session, project, environment } = await projectScope(context)
    const listed = await session.api.call(listEnvironments, { params: { project_id: project.id } })
    const rows = Object.entries(listed.environments).map(([name, { secret_count, has_more }]) => ({
      environment: name,
      secrets: has_more ? `${secret_count}+` : secret_count,
      current: name === environment ? 'yes' : '',
    }))
    context.output.table(rows, ['environment', 'secrets', 'current'], listed)
  },
})
