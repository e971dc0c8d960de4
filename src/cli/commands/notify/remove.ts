import { deleteNoticeTarget } from '../../../features/notices/contract.ts'
import { command } from '../../command.ts'
import { yes } from '../../options.ts'
import { workspaceScope } from '../../scope.ts'
import { requireConfirmationOnTerminal } from '../../terminal/confirmed.ts'

export default command({
  usage: 'remove <target>',
  examples: ['notify remove 0190…'],
  options: [yes],
  action: async (context, [target_id], options) => {
    const { session, workspace } = await workspaceScope(context)
    await requireConfirmationOnTerminal(
      context.host,
      options,
      `Remove the notice target ${target_id}?`,
    )
    await session.api.call(deleteNoticeTarget, {
      params: { workspace_id: workspace.id, target_id },
    })
    context.output.done('Removed. The target receives one last notice.', { removed: target_id })
  },
})
