import { command } from '../../command.ts'
import { chosenWorkspace } from '../../scope.ts'
import { findProject, remember } from '../../teams/projects.ts'

export default command({
  usage: 'use <project>',
  examples: ['project use payments'],
  action: async (context, [name]) => {
    const scope = await chosenWorkspace(context)
    const project = await findProject(scope, name)
    remember(context, { workspace: scope.workspace.id, project: project.name })
  },
})
