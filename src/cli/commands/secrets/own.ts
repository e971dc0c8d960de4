/** `secrets set --mine` and `delete --mine`: values of the person's own, which no server is sent. */
import type { setOptions } from '../../catalogue/storing.ts'
import type { OptionValues } from '../../command.ts'
import type { Context } from '../../context.ts'
import type { Values } from '../../files/formats.ts'
import { notFound } from '../../named.ts'
import { type ProjectScope, projectScope } from '../../scope.ts'
import { CliError } from '../../terminal/cli_error.ts'
import { confirmed } from '../../terminal/confirmed.ts'
import { marked } from '../../values/references.ts'
import { confirmUnusual } from '../../values/unusual.ts'

/** @throws CliError for options that only a stored value can have */
export async function setOwn(
  context: Context,
  values: Values,
  options: OptionValues<typeof setOptions>,
): Promise<undefined> {
  const { policy, sensitive, plain } = options
  if (policy !== undefined || sensitive || plain) {
    throw new CliError(
      'usage',
      'a value of your own has no policy: leave --policy, --sensitive and --plain out',
    )
  }
  const scope = await projectScope(context)
  const entries = Object.entries(values).map(([key, value]) => ({ key, value, policy: undefined }))
  const final = await marked(context, scope, entries, {
    ...options,
    own: scope.session.own.of(scope),
  })
  await confirmUnusual(context, final, options)
  const own = final.map(
    ({ key, value, policy }) => [key, { value, references: policy?.references === true }] as const,
  )
  scope.session.own.set(scope, new Map(own))
  const names = Object.keys(values)
  const sentence = `${placeOf(scope)}: ${names.join(', ')}, for you on this machine only.`
  context.output.done(sentence, { mine: names })
}

/** @throws CliError for a name that is not there */
export async function removeOwn(
  context: Context,
  names: readonly string[],
  options: { yes: boolean | undefined },
): Promise<undefined> {
  const scope = await projectScope(context)
  const { own } = scope.session
  const known = [...own.of(scope).keys()]
  const missing = names.find((name) => !known.includes(name))
  if (missing !== undefined) {
    const where = `among your own in ${placeOf(scope)}`
    throw notFound(missing, known, { what: 'value', where, list: 'secrets list' })
  }
  await confirmed(
    context.host,
    options,
    `Delete your own ${names.join(', ')} of ${placeOf(scope)}?`,
  )
  own.remove(scope, names)
  context.output.done(`${names.length} deleted; what all have counts again.`, { deleted: names })
}

function placeOf({ project, environment }: ProjectScope): string {
  return `${project.name}/${environment}`
}
