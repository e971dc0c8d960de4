import { proveDeleted, restoreProven } from '../../../client/actions/stored_secrets.ts'
import { ApiError } from '../../../client/http/api.ts'
import { command } from '../../command.ts'
import { buildNotFoundError } from '../../named.ts'
import { environmentOf, type ProjectScope, projectScope } from '../../scope.ts'
import { absence } from '../../suggestions.ts'
import { CliError } from '../../terminal/cli_error.ts'
import { deletedOf, throwUnproven } from '../../values/storing.ts'

/** Without names it shows which there are. */
export default command({
  usage: 'undelete [name...]',
  names: 'secret',
  examples: ['secrets undelete', 'secrets undelete OLD_KEY', 'secrets undelete --all -e staging'],
  options: [['--all', 'restore all deleted secrets of the environment']],
  action: async (context, keys, options) => {
    const scope = await projectScope(context)
    const { project, environment } = scope
    const deleted = await deletedOf(scope)
    if (keys.length === 0 && !options.all) {
      const rows = deleted.map(({ key, version, deleted_at }) => ({ key, version, deleted_at }))
      context.output.table(rows, [{ field: 'key', whole: true }, 'version', 'deleted_at'])
      return
    }
    const known = deleted.map(({ key }) => key)
    const missing = keys.find((key) => !known.includes(key))
    if (missing !== undefined) {
      await refusePresent(scope, missing)
      const where = `that was deleted from ${project.name}/${environment} in the last 7 days`
      throw buildNotFoundError(missing, known, { what: 'secret', where, list: 'secrets undelete' })
    }
    const chosen = options.all ? known : [...new Set(keys)]
    const place = environmentOf(scope)
    const proven = await proveDeleted(place, chosen).catch(throwUnproven)
    // An older value of the same name opens, too, so print the version that is restored.
    for (const { key, version, deleted_at } of proven) {
      context.output.note(`${key}: version ${version}, deleted ${deleted_at}`)
    }
    await restoreProven(place, proven).catch((error: unknown) => {
      throw setAgain(scope, error)
    })
    context.output.done(`${project.name}/${environment}: ${chosen.length} restored.`, {
      restored: chosen,
    })
  },
})

/** @throws CliError where the secret was not deleted, or was set again */
async function refusePresent(scope: ProjectScope, key: string): Promise<void> {
  if ((await absence(scope, key)) !== null) return
  const { project, environment } = scope
  throw new CliError(
    'not_found',
    `${key} is not deleted: it is in ${project.name}/${environment}`,
    `see its versions with: cloakroom secrets history ${key} -e ${environment}`,
  )
}

/** Lists secrets that were set again. */
function setAgain({ environment }: ProjectScope, error: unknown): unknown {
  if (!(error instanceof ApiError) || error.code !== 'already_exists') return error
  const [first] = error.fields
  if (first === undefined) return error
  return new CliError(
    'name_taken',
    error.fields.map(({ path, message }) => `${path}: ${message}`),
    `see its versions with: cloakroom secrets history ${first.path} -e ${environment}`,
  )
}
