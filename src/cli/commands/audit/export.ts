import { download } from '../../../client/http/answer.ts'
import { urlOf } from '../../../client/http/api.ts'
import { exportAudit } from '../../../features/audit/contract.ts'
import { filtersOf, page } from '../../audit.ts'
import { command } from '../../command.ts'
import { filterOptions } from '../../options.ts'
import { workspaceScope } from '../../scope.ts'
import { explainRoleRefusal } from '../../session/named_roles.ts'

/** One JSON object per line, as it arrives. */
export default command({
  usage: 'export',
  examples: ['audit export > audit.jsonl'],
  options: [...filterOptions],
  action: async (context, _, options) => {
    const { session, workspace } = await workspaceScope(context)
    // A small call first: it renews the session if that has expired.
    await page({ session, workspace }, { limit: 1 })
    const query = { workspace_id: workspace.id, ...filtersOf(options) }
    const headers = { authorization: `Bearer ${session.stored.access}` }
    const url = urlOf(session.server, exportAudit, { query })
    try {
      for await (const piece of download(exportAudit, url, { headers })) context.output.bytes(piece)
    } catch (error) {
      throw await explainRoleRefusal(session.api, workspace, exportAudit.access, error)
    }
  },
})
