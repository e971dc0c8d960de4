import { command } from '../../command.ts'
import { projectsOf, workspaceScope } from '../../scope.ts'
import { ID } from '../../terminal/table.ts'

export default command({
  usage: 'list',
  examples: ['project list'],
  action: async (context) => {
    const projects = await projectsOf(await workspaceScope(context))
    const columns = ['name', 'description', { field: 'workspace_name', title: 'workspace' }, ID]
    context.output.table(projects, columns)
  },
})
