import { listNoticeTargets } from '../../../features/notices/contract.ts'
import { command } from '../../command.ts'
import { workspaceScope } from '../../scope.ts'

export default command({
  usage: 'list',
  examples: ['notify list'],
  action: async (context) => {
    const { session, workspace } = await workspaceScope(context)
    const targets = await session.api.list(listNoticeTargets, {
      params: { workspace_id: workspace.id },
    })
    const rows = targets.map((target) => ({ ...target, events: target.events.join(', ') }))
    context.output.table(rows, ['id', 'type', 'host', 'events', 'created_at'], targets)
  },
})
