import { listAllowlistLog } from '../../../features/allowlist/contract.ts'
import { command } from '../../command.ts'
import { workspaceScope } from '../../scope.ts'

export default command({
  usage: 'log',
  examples: ['allowlist log'],
  action: async (context) => {
    const { session, workspace } = await workspaceScope(context)
    const entries = await session.api.list(listAllowlistLog, {
      params: { workspace_id: workspace.id },
    })
    context.output.table(entries, [
      { field: 'performed_at', title: 'when' },
      'action',
      'domain',
      { field: 'performed_by_email', title: 'by' },
    ])
  },
})
