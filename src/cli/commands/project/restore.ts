import { listAuditLogs } from '../../../features/audit/contract.ts'
import { restoreProject } from '../../../features/projects/contract.ts'
import { command } from '../../command.ts'
import { workspaceScope } from '../../scope.ts'
import { CliError } from '../../terminal/cli_error.ts'

/** Only the audit log lists deleted projects. */
export default command({
  usage: 'restore <name>',
  names: 'project',
  examples: ['project restore payments'],
  action: async (context, [name]) => {
    const { session, workspace } = await workspaceScope(context)
    const query = { workspace_id: workspace.id, action: 'project.deleted', since: '7d' }
    const deletions = await session.api.list(listAuditLogs, { query })
    const found = deletions
      .map(({ resource }) => resource)
      .find((candidate) => candidate?.name === name || candidate?.id === name)
    if (!found?.id) {
      const hint = 'list them with: cloakroom audit list --action project.deleted --since 7d'
      throw new CliError('not_found', `no project ${name} was deleted in the last 7 days`, hint)
    }
    const params = { project_id: found.id }
    const project = await session.api.call(restoreProject, { params })
    context.output.done(`Restored ${project.name}; its agents and tokens stay deleted.`, {
      restored: project.name,
      id: project.id,
    })
  },
})
