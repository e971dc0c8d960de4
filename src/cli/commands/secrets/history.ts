import { listVersions } from '../../../features/secrets/contract.ts'
import { command } from '../../command.ts'
import { projectScope } from '../../scope.ts'
import { onSecret } from '../../suggestions.ts'

export default command({
  usage: 'history <key>',
  examples: ['secrets history STRIPE_KEY'],
  action: async (context, [key]) => {
    const scope = await projectScope(context)
    const { session, project, environment } = scope
    const params = { project_id: project.id, key }
    const work = session.api.list(listVersions, { params, query: { environment } })
    const versions = await onSecret(scope, key, work)
    context.output.table(versions, [
      'version',
      { field: 'created_by_email', title: 'by' },
      'created_at',
    ])
  },
})
