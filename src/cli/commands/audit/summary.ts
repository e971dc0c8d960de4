import { summariseAudit } from '../../../features/audit/contract.ts'
import { filtersOf } from '../../audit.ts'
import { command } from '../../command.ts'
import { filterOptions } from '../../options.ts'
import { workspaceScope } from '../../scope.ts'

export default command({
  usage: 'summary',
  examples: [
    'audit summary --since 2026-01-01',
    'audit summary --agent deploy-bot --result refused',
  ],
  options: [...filterOptions],
  action: async (context, _, options) => {
    const { session, workspace } = await workspaceScope(context)
    const query = { workspace_id: workspace.id, ...filtersOf(options) }
    const counted = await session.api.call(summariseAudit, { query })
    if (context.output.isJson) context.output.record(counted)
    else {
      context.output.record(counted.totals)
      context.output.say('')
      context.output.table(counted.by_agent, [ACTOR, 'count', 'last_used_at'])
      context.output.say('')
      context.output.table(counted.by_domain, ['domain', 'count'])
      context.output.say('')
      context.output.table(counted.by_credential, [CREDENTIAL, 'count'])
      if (!counted.is_whole) context.output.say(NOT_WHOLE)
    }
  },
})

const ACTOR = { field: 'agent_id', title: 'actor' } as const

const CREDENTIAL = { field: 'credential_ref', title: 'credential' } as const

const NOT_WHOLE = 'Only the newest calls are counted. Give a later --since.'
