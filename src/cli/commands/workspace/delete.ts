import { endWorkspace, lossesOfWorkspace } from '../../../client/actions/workspaces.ts'
import { command } from '../../command.ts'
import { yes } from '../../options.ts'
import { formatCount, formatCounts, requireConfirmation } from '../../terminal/confirmed.ts'

/** Permanent: nobody can restore a workspace. */
export default command({
  usage: 'delete <workspace>',
  examples: ['workspace delete acme', 'workspace delete acme --yes'],
  options: [yes],
  action: async (context, [named], options) => {
    const session = await context.session()
    const workspace = await session.entry(named)
    const { id, name } = workspace
    await requireConfirmation(context.host, options, async () => {
      const { projects, agents, people } = await lossesOfWorkspace(session.api, id)
      const lost = formatCounts({ project: projects.length, agent: agents })
      const names = projects.length > 0 ? ` (${projects.join(', ')})` : ''
      return `Delete ${name} for ${formatCount(people, 'member')}, with ${lost || 'all its content'}${names}? This is permanent.`
    })
    await endWorkspace(session.api, workspace)
    session.knownNames.forget(id)
    context.output.done(`Deleted ${name} with all its content.`, { deleted: name, id })
  },
})
