import { listUnfilled } from '../../../core/policy/unfilled.ts'
import { getAuditLog } from '../../../features/audit/contract.ts'
import { nameOf } from '../../audit.ts'
import { command } from '../../command.ts'
import { workspaceScope } from '../../scope.ts'

/** For people, only the fields with values. */
export default command({
  usage: 'show <record>',
  examples: ['audit show 01a1f3c8-3a6e-7a54-bd5c-0e2f9c6b7d10'],
  action: async (context, [log_id]) => {
    const { session, workspace } = await workspaceScope(context)
    const query = { workspace_id: workspace.id }
    const record = await session.api.call(getAuditLog, { params: { log_id }, query })
    const said = Object.entries({
      ...record,
      resource: nameOf(record.resource),
      unfilled: record.unfilled && listUnfilled(record.unfilled),
    })
    context.output.record(
      context.output.isJson
        ? record
        : Object.fromEntries(said.filter(([, value]) => value !== null)),
      record.id,
    )
  },
})
