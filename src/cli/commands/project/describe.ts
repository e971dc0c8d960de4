import { command } from '../../command.ts'
import { workspaceScope } from '../../scope.ts'
import { changeProject, findProject } from '../../teams/projects.ts'

export default command({
  usage: 'describe <project> <text>',
  examples: ['project describe payments "Cards and invoices"'],
  action: async (context, [named, description]) => {
    const scope = await workspaceScope(context)
    const project = await findProject(scope, named)
    await changeProject(scope, project, { description })
    context.output.done(`Described ${project.name}.`, { id: project.id, description })
  },
})
