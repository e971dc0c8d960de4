import { command } from '../../command.ts'
import { chooseWorkspace } from '../../scope.ts'
import { findProject, writeProjectFile } from '../../teams/projects.ts'

/** Like init, but only with an existing project, so that a mistyped name creates nothing. */
export default command({
  usage: 'link <project>',
  examples: ['link payments', 'link payments -w acme --server https://vault.example.com'],
  action: async (context, [name]) => {
    const scope = await chooseWorkspace(context)
    const project = await findProject(scope, name)
    writeProjectFile(context, scope, project)
    context.output.done(`Using ${project.name} of ${scope.workspace.name} in this folder.`, {
      project: project.name,
      workspace: scope.workspace.name,
    })
  },
})
