import { command } from '../../command.ts'
import type { Context } from '../../context.ts'
import { buildNotFoundError } from '../../named.ts'
import { yes } from '../../options.ts'
import { projectScope } from '../../scope.ts'
import { demandSecrets } from '../../suggestions.ts'
import { requireConfirmation } from '../../terminal/confirmed.ts'
import { deleteSecrets, undeleteOf } from '../../values/storing.ts'

export default command({
  usage: 'delete <keys...>',
  examples: ['secrets delete OLD_KEY --yes', 'secrets delete DB_HOST --mine'],
  options: [['--mine', 'delete only your own values on this machine'], yes],
  action: async (context, typed, options) => {
    if (options.mine) return removeOwn(context, typed, options)
    const scope = await projectScope(context)
    const { project, environment } = scope
    const keys = [...new Set(typed)]
    await demandSecrets(scope, keys)
    const names = keys.join(', ')
    await requireConfirmation(
      context.host,
      options,
      `Delete ${names} from ${project.name}/${environment}, including earlier versions? You can restore them for 7 days.`,
    )
    await deleteSecrets(scope, keys)
    context.output.done(`${keys.length} deleted; for 7 days: ${undeleteOf(keys, environment)}`, {
      deleted: keys,
    })
  },
})

/** @throws CliError for a name that is not there */
async function removeOwn(
  context: Context,
  names: readonly string[],
  options: { yes: boolean | undefined },
): Promise<undefined> {
  const scope = await projectScope(context)
  const { own } = scope.session
  const place = `${scope.project.name}/${scope.environment}`
  const known = [...own.of(scope).keys()]
  const missing = names.find((name) => !known.includes(name))
  if (missing !== undefined) {
    const where = `among your own in ${place}`
    throw buildNotFoundError(missing, known, { what: 'value', where, list: 'secrets list' })
  }
  await requireConfirmation(
    context.host,
    options,
    `Delete your own ${names.join(', ')} of ${place}?`,
  )
  own.remove(scope, names)
  context.output.done(`${names.length} deleted; the shared values apply again.`, { deleted: names })
}
