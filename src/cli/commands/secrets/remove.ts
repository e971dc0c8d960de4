/** `cloakroom secrets delete`. */
import { deleteSecret } from '../../../features/secrets/contract.ts'
import type { confirmOptions } from '../../catalogue/options.ts'
import type { Action } from '../../command.ts'
import { projectScope } from '../../scope.ts'
import { onSecret } from '../../suggestions.ts'
import { confirmed } from '../../terminal/confirmed.ts'

export const remove: Action<typeof confirmOptions> = async (context, keys, options) => {
  const scope = await projectScope(context)
  const { session, project, environment } = scope
  await confirmed(options, `Delete ${keys.join(', ')} from ${project.name}/${environment}?`)
  for (const key of keys) {
    const params = { project_id: project.id, key }
    const work = session.api.call(deleteSecret, { params, query: { environment } })
    await onSecret(scope, key, work)
  }
  context.output.done(`${keys.length} deleted.`, { deleted: keys })
  return undefined
}
