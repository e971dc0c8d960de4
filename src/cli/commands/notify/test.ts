import { testNoticeTarget } from '../../../features/notices/contract.ts'
import { command } from '../../command.ts'
import { workspaceScope } from '../../scope.ts'

export default command({
  usage: 'test <target>',
  examples: ['notify test 0190…'],
  action: async (context, [target_id]) => {
    const { session, workspace } = await workspaceScope(context)
    const queued = await session.api.call(testNoticeTarget, {
      params: { workspace_id: workspace.id, target_id },
      body: {},
    })
    const log = `cloakroom notify log ${target_id}`
    context.output.done(`Queued. See the result: ${log}`, queued, queued.notice_id)
  },
})
