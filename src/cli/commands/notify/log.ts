import { listNotices } from '../../../features/notices/contract.ts'
import { command } from '../../command.ts'
import { workspaceScope } from '../../scope.ts'

export default command({
  usage: 'log [target]',
  examples: ['notify log', 'notify log 0190…'],
  action: async (context, [target_id]) => {
    const { session, workspace } = await workspaceScope(context)
    const notices = await session.api.list(listNotices, {
      params: { workspace_id: workspace.id },
      query: target_id === undefined ? {} : { target_id },
    })
    context.output.table(notices, [
      { field: 'created_at', title: 'when' },
      'event',
      'status',
      'attempts',
      { field: 'last_error', title: 'last error' },
      { field: 'next_attempt_at', title: 'next attempt' },
      { field: 'target_id', title: 'target' },
      'id',
    ])
  },
})
