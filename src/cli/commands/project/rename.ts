import { command } from '../../command.ts'
import type { Context } from '../../context.ts'
import { type WorkspaceScope, workspaceScope } from '../../scope.ts'
import { findProjectFile, readProjectFile, updateFile } from '../../settings.ts'
import { changeProject, findProject, rememberProject } from '../../teams/projects.ts'

export default command({
  usage: 'rename <project> <name>',
  names: 'project',
  examples: ['project rename payments billing'],
  action: async (context, [named, name]) => {
    const scope = await workspaceScope(context)
    const project = await findProject(scope, named)
    await changeProject(scope, project, { name })
    rememberProject(scope, { ...project, name })
    let here: string | null = null
    scope.session.writes.remember(() => {
      here = followRename(context, scope, { from: project.name, to: name })
    })
    context.output.done(
      `Renamed ${project.name} to ${name}.`,
      { id: project.id, project: name, renamed_from: project.name },
      project.id,
    )
    context.output.note(
      `${here === null ? '' : `Updated ${here}. `}In other folders that use it, run: cloakroom link ${name}`,
    )
  },
})

/** The project file of this folder names the project: with the old name it would lead nowhere. */
function followRename(
  { cwd }: Context,
  { workspace }: WorkspaceScope,
  { from, to }: { from: string; to: string },
): string | null {
  const path = findProjectFile(cwd)
  if (path === null) return null
  const file = readProjectFile(path)
  if (file.project !== from || file.workspace !== workspace.id) return null
  updateFile(path, { project: to })
  return path
}
