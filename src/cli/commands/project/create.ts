import { command } from '../../command.ts'
import { workspaceScope } from '../../scope.ts'
import { create } from '../../teams/projects.ts'

export default command({
  usage: 'create <name>',
  names: 'project',
  examples: ['project create payments'],
  action: async (context, [name]) => {
    const project = await create(await workspaceScope(context), name)
    context.output.record({ id: project.id, name: project.name }, project.id)
  },
})
