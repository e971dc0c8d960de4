import { command } from '../../command.ts'
import { chooseWorkspace } from '../../scope.ts'
import { findProject, remember } from '../../teams/projects.ts'

export default command({
  usage: 'use <project>',
  examples: ['project use payments'],
  action: async (context, [name]) => {
    const scope = await chooseWorkspace(context)
    const project = await findProject(scope, name)
    remember(context, { workspace: scope.workspace.id, project: project.name })
  },
})
