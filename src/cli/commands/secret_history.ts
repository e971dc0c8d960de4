/** What environments differ in, and what a secret was before. */
import { showDiff } from '../../features/projects/contract.ts'
import { listVersions, rollBackSecret } from '../../features/secrets/contract.ts'
import type { Action } from '../command.ts'
import { projectScope } from '../scope.ts'
import { onSecret } from '../suggestions.ts'

export const diff: Action = async (context, [from = '', to = '']) => {
  const { session, project } = await projectScope(context)
  const compared = await session.api.call(showDiff, {
    params: { project_id: project.id },
    query: { from, to },
  })
  const rows = [
    ...compared.in_from_only.map((key) => ({ key, in: from })),
    ...compared.in_to_only.map((key) => ({ key, in: to })),
    ...compared.in_both.map((key) => ({ key, in: 'both' })),
  ]
  context.output.table(rows, ['key', 'in'], compared)
  return undefined
}

export const history: Action = async (context, [key = '']) => {
  const scope = await projectScope(context)
  const { session, project, environment } = scope
  const params = { project_id: project.id, key }
  const work = session.api.list(listVersions, { params, query: { environment } })
  const versions = await onSecret(scope, key, work)
  context.output.table(versions, ['version', 'created_by_email', 'created_at'])
  return undefined
}

/** Makes an earlier value the newest: its ciphertext binds the place, not the number. */
export const rollBack: Action = async (context, [key = '', version = '']) => {
  const scope = await projectScope(context)
  const { session, project, environment } = scope
  const params = { project_id: project.id, key }
  const body = { version: Number(version) }
  const work = session.api.call(rollBackSecret, { params, query: { environment }, body })
  const now = await onSecret(scope, key, work)
  context.output.say(`${key} is back to version ${version}, as version ${now.version}.`)
  return undefined
}
