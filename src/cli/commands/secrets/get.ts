/** `cloakroom secrets get`: values, opened here; of a single name an earlier one too. */
import { readNamed, readSecret } from '../../../client/environment.ts'
import { command, type OptionValues } from '../../command.ts'
import type { Context } from '../../context.ts'
import { writeValues } from '../../files/formats.ts'
import { noMine, raw, token } from '../../options.ts'
import { environmentOf, type ProjectScope, projectScope } from '../../scope.ts'
import { absence, onSecret } from '../../suggestions.ts'
import { CliError } from '../../terminal/cli_error.ts'
import { tokenInstead, valuesNamed } from '../../tokens/token_work.ts'
import { showValues, withReferenced } from '../../values/references.ts'
import { openListedSecrets } from '../../values/sealing.ts'
import { noteOwnValues } from '../../values/session_source.ts'
import { versionOf } from '../../values/versions.ts'

const options = [
  token,
  raw,
  noMine,
  ['--version <version>', 'version number, as listed by secrets history'],
] as const

export default command({
  usage: 'get <keys...>',
  examples: [
    'secrets get STRIPE_KEY -e production',
    'secrets get STRIPE_KEY --version 2',
    'secrets get DB_USER DB_PASSWORD > db.env',
  ],
  options,
  action: async (context, names, options) => {
    const keys = [...new Set(names)]
    const token = tokenInstead(context, options)
    const { version, raw } = options
    if (version !== undefined && (keys.length > 1 || token !== undefined)) {
      throw new CliError('usage', '--version needs a single secret and a session')
    }
    show(
      context,
      token === undefined
        ? await ofPerson(
            context,
            await projectScope(context, version === undefined ? {} : undefined),
            keys,
            options,
          )
        : await valuesNamed(context, token, keys, { raw }),
    )
  },
})

type Shown = {
  key: string
  value: string
  version?: number | undefined
  mine?: true
  environment?: string
}

async function ofPerson(
  { output }: Context,
  scope: ProjectScope,
  keys: readonly string[],
  { version, raw: asked, mine }: OptionValues<typeof options>,
): Promise<Shown[]> {
  const { environment, session } = scope
  // The secrets that an earlier value refers to may have changed since.
  const raw = asked === true || version !== undefined
  const own = mine === false || version !== undefined ? new Map() : session.own.of(scope)
  const stored = await storedOf(
    scope,
    keys.filter((key) => !own.has(key)),
    version,
  )
  const ownNamed = [...own].filter(([name]) => keys.includes(name))
  const opened = new Map([...openListedSecrets(scope, stored), ...ownNamed])
  const used = raw ? opened : await withReferenced(scope, opened, own)
  noteOwnValues(
    output,
    scope,
    [...used.keys()].filter((name) => own.has(name)),
  )
  const values = showValues(used, { raw }, keys)
  const versions = new Map(stored.map((secret) => [secret.key, secret.version]))
  return keys.map((key) => {
    const from = own.has(key) ? { mine: true as const } : { version: versions.get(key) }
    return { key, value: values[key] ?? '', ...from, environment }
  })
}

async function storedOf(scope: ProjectScope, keys: readonly string[], version: string | undefined) {
  const [key, another] = keys
  if (key === undefined) return []
  return another === undefined ? [await readOne(scope, key, version)] : readAll(scope, keys)
}

function readOne(scope: ProjectScope, key: string, version: string | undefined) {
  if (version !== undefined) return versionOf(scope, key, version)
  return onSecret(scope, key, readSecret(environmentOf(scope), key))
}

/** In the order in which they were named; one that is missing is an error, and none is shown. */
async function readAll(scope: ProjectScope, keys: readonly string[]) {
  const found = new Map(
    (await readNamed(environmentOf(scope), new Set(keys))).map((secret) => [secret.key, secret]),
  )
  const missing = keys.find((key) => !found.has(key))
  const error = missing === undefined ? null : await absence(scope, missing)
  if (error) throw error
  return keys.flatMap((key) => found.get(key) ?? [])
}

/** Prints a single value without its name, and several as dotenv. */
function show({ output }: Context, shown: readonly Shown[]): void {
  const [first, another] = shown
  if (!first) return
  if (output.isJson) {
    if (another) output.table(shown, ['key'])
    else output.record(first)
  } else if (another) {
    const values = Object.fromEntries(shown.map(({ key, value }) => [key, value]))
    output.raw(writeValues('dotenv', values))
  } else {
    output.raw(output.isTerminal ? `${first.value}\n` : first.value)
  }
}
