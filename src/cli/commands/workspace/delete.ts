import { listAgents } from '../../../features/agents/contract.ts'
import { listProjects } from '../../../features/projects/contract.ts'
import { deleteWorkspace, listMembers } from '../../../features/workspaces/contract.ts'
import { command } from '../../command.ts'
import { yes } from '../../options.ts'
import { confirmed, counted, countedAll } from '../../terminal/confirmed.ts'

/** For good: nobody can restore a workspace. */
export default command({
  usage: 'delete <workspace>',
  examples: ['workspace delete acme', 'workspace delete acme --yes'],
  options: [yes],
  action: async (context, [named], options) => {
    const session = await context.session()
    const { id, name } = await session.entry(named)
    const params = { workspace_id: id }
    await confirmed(context.host, options, async () => {
      const [projects, agents, people] = await Promise.all([
        session.api.list(listProjects, { query: params }),
        session.api.list(listAgents, { params }),
        session.api.list(listMembers, { params }),
      ])
      const lost = countedAll({ project: projects.length, agent: agents.length })
      const names =
        projects.length > 0 ? ` (${projects.map((project) => project.name).join(', ')})` : ''
      return `Delete ${name} for ${counted(people.length, 'member')}, with ${lost || 'all that it holds'}${names}? Nobody can bring it back.`
    })
    await session.sign(
      { id, name },
      () => ({ type: 'workspace.deleted', body: {} }),
      (link) => session.api.call(deleteWorkspace, { params, body: { link } }),
    )
    session.knownNames.forget(id)
    context.output.done(`Deleted ${name}, with all that it held.`, { deleted: name, id })
  },
})
