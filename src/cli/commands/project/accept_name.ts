import { namesOfProjects, toDefaultProjectList } from '../../../client/known_names.ts'
import { command } from '../../command.ts'
import { yes } from '../../options.ts'
import { projectsOf, workspaceScope } from '../../scope.ts'
import { accept } from '../../trust/accept_name.ts'

export default command({
  usage: 'accept-name <project>',
  examples: ['project accept-name payments'],
  options: [yes],
  action: async (context, [typed], options) => {
    const scope = await workspaceScope(context)
    const all = await projectsOf(scope)
    const { session, workspace } = scope
    const lists = { names: namesOfProjects(workspace), usual: toDefaultProjectList(workspace) }
    const only = all.length === 1 ? all[0] : undefined
    const place = { what: 'project', known: session.knownNames, ...lists }
    await accept(context, { ...place, all, only }, typed, options)
  },
})
