/** Deleting secrets, and bringing them back. */
import { openWriter, storing } from '../../../client/environment.ts'
import { listDeletedSecrets, restoreSecretsEndpoint } from '../../../features/secrets/contract.ts'
import type { removeOptions, undeleteOptions } from '../../catalogue/options.ts'
import type { Action } from '../../command.ts'
import type { Context } from '../../context.ts'
import { notFound } from '../../named.ts'
import { environmentOf, type ProjectScope, projectScope } from '../../scope.ts'
import { demandSecrets } from '../../suggestions.ts'
import { confirmed } from '../../terminal/confirmed.ts'
import { opened } from '../../values/sealing.ts'
import { deleteSecrets, unproven } from '../../values/storing.ts'
import { removeOwn } from './own.ts'

export const remove: Action<typeof removeOptions> = async (context, typed, options) => {
  if (options.mine) return removeOwn(context, typed, options)
  const scope = await projectScope(context)
  const { project, environment } = scope
  const keys = [...new Set(typed)]
  await demandSecrets(scope, keys)
  const names = keys.join(', ')
  await confirmed(
    options,
    `Delete ${names} from ${project.name}/${environment}, with earlier versions? For 7 days they can be restored.`,
  )
  await deleteSecrets(scope, keys)
  context.output.done(`${keys.length} deleted; for 7 days: ${undeleteOf(keys, environment)}`, {
    deleted: keys,
  })
  return undefined
}

/** The command that brings them back. */
export function undeleteOf(keys: readonly string[], environment: string): string {
  return `cloakroom secrets undelete ${keys.join(' ')} -e ${environment}`
}

/** Names in one request of the server. */
const BATCH = 500

/** Without names it shows which there are. */
export const undelete: Action<typeof undeleteOptions> = async (context, keys, options) => {
  const scope = await projectScope(context)
  const { session, project, environment } = scope
  const deleted = await deletedOf(scope)
  if (keys.length === 0 && !options.all) {
    const rows = deleted.map(({ key, version, deleted_at }) => ({ key, version, deleted_at }))
    context.output.table(rows, [{ field: 'key', whole: true }, 'version', 'deleted_at'])
    return undefined
  }
  const known = deleted.map(({ key }) => key)
  const missing = keys.find((key) => !known.includes(key))
  if (missing !== undefined) {
    const where = `that was deleted from ${project.name}/${environment} in the last 7 days`
    throw notFound(missing, known, { what: 'secret', where, list: 'secrets undelete' })
  }
  const chosen = options.all ? known : [...new Set(keys)]
  const proven = await provenDeleted(context, scope, chosen)
  const params = { project_id: project.id }
  const write = openWriter(environmentOf(scope))
  for (let start = 0; start < chosen.length; start += BATCH) {
    const batch = chosen.slice(start, start + BATCH)
    const restored = proven.filter(({ key }) => batch.includes(key))
    await write(storing(restored), (manifest) => {
      const body = { environment, keys: batch, manifest }
      return session.api.call(restoreSecretsEndpoint, { params, body })
    })
  }
  context.output.done(`${project.name}/${environment}: ${chosen.length} restored.`, {
    restored: chosen,
  })
  return undefined
}

/**
 * With their ciphertexts, each of which opens here as the value of that name: what is signed is the hash of what
 * was opened. An older value of the same name opens, too, so it is said which version comes back.
 *
 * @throws CliError `unproven_policy`
 */
async function provenDeleted({ output }: Context, scope: ProjectScope, chosen: readonly string[]) {
  const { session, project, environment } = scope
  const listed = await session.api.list(listDeletedSecrets, {
    params: { project_id: project.id },
    query: { environment, include: 'value' },
  })
  const found = listed.filter(({ key }) => chosen.includes(key))
  const lost = chosen.filter((name) => {
    const secret = found.find(({ key }) => key === name)
    return !secret?.value || opened(scope, { ...secret, value: secret.value }) === null
  })
  if (lost.length > 0) throw unproven(lost)
  for (const { key, version, deleted_at } of found)
    output.note(`${key}: version ${version}, deleted ${deleted_at}`)
  return found
}

export function deletedOf({ session, project, environment }: ProjectScope) {
  const params = { project_id: project.id }
  return session.api.list(listDeletedSecrets, { params, query: { environment } })
}
