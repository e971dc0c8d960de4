/** `cloakroom secrets pull`: every value of an environment, opened here. */
import { readSecrets } from '../../../client/environment.ts'
import { command, type OptionValues } from '../../command.ts'
import type { Context } from '../../context.ts'
import { dialectOf } from '../../files/dialects/index.ts'
import {
  type ExportFormat,
  exportFormats,
  formatOfName,
  type Values,
  writeValues,
} from '../../files/formats.ts'
import { writePrivately } from '../../files/written.ts'
import { allowEmpty, dialect, force, raw, token, yes } from '../../options.ts'
import { environmentOf, type ProjectScope, projectScope } from '../../scope.ts'
import { refuseEmpty } from '../../suggestions.ts'
import { CliError } from '../../terminal/cli_error.ts'
import { formatCount } from '../../terminal/confirmed.ts'
import { tokenInstead, valuesOfToken } from '../../tokens/token_work.ts'
import { type Form, showValues } from '../../values/references.ts'
import { openListedSecrets } from '../../values/sealing.ts'

const options = [
  token,
  raw,
  ['--format <format>', 'dotenv, json, yaml or shell (default: by file extension, else dotenv)'],
  dialect,
  force,
  yes,
  allowEmpty,
] as const

type PullOptions = OptionValues<typeof options>

/** Every value of the environment, to standard output or a file that only its owner may read. */
export default command({
  usage: 'pull [path]',
  examples: ['secrets pull', 'secrets pull .env', 'secrets pull config.json --force'],
  options,
  action: async (context, [given], options) => {
    const path = given === '-' ? undefined : given
    const values = await valuesFor(context, options)
    const text = writeValues(formatOf(context, path, options), values, dialectOf(options))
    if (path === undefined) {
      context.output.raw(text)
      return
    }
    const yes = options.force === true || options.yes === true
    const changed = await writePrivately(context.host, path, text, { yes })
    const { length: count } = Object.keys(values)
    context.output.done(
      changed
        ? `${formatCount(count, 'secret')} written to ${path} (readable only by you).`
        : `${path} already has these values (${formatCount(count, 'secret')}).`,
      { file: path, secrets: count, changed },
    )
  },
})

/** Uses a token if set, otherwise the session. @throws CliError if it may be the wrong environment */
async function valuesFor(context: Context, options: PullOptions): Promise<Values> {
  const token = tokenInstead(context, options)
  const showDuring = <T>(work: Promise<T>) => context.output.during('fetching and decrypting', work)
  if (token !== undefined) return showDuring(valuesOfToken(context, token, options))
  const scope = await projectScope(context, { include: 'value' })
  const values = await showDuring(download(scope, options))
  const own = [...scope.session.own.of(scope).keys()]
  if (own.length > 0) {
    // A pulled file may be pushed, which would share your own values with everyone.
    context.output.warn(`without your own values, which run and inject use: ${own.join(', ')}`)
  }
  if (Object.keys(values).length === 0) await refuseEmpty(scope, options)
  return values
}

/** The option wins, with a note if the file's name means another format. */
function formatOf(
  { output }: Context,
  path: string | undefined,
  { format: given, dialect }: PullOptions,
): ExportFormat {
  const ofName = path === undefined ? undefined : formatOfName(path)
  if (dialect !== undefined) return ofDialect(given)
  if (given === undefined)
    return ofName ?? (output.isJson && path === undefined ? 'json' : 'dotenv')
  const format = exportFormats.find((candidate) => candidate === given)
  if (!format) {
    throw new CliError('usage', `the format must be one of ${exportFormats.join(', ')}`)
  }
  if (ofName !== undefined && ofName !== format) {
    output.warn(`${path} is written as ${format}, although its extension means ${ofName}`)
  }
  return format
}

/** @throws CliError for another format */
function ofDialect(format: string | undefined): ExportFormat {
  if (format === undefined || format === 'dotenv') return 'dotenv'
  throw new CliError(
    'usage',
    `--dialect is only for .env files, and --format is ${format}`,
    'omit one of them',
  )
}

async function download(scope: ProjectScope, form: Form): Promise<Values> {
  const secrets = await readSecrets(environmentOf(scope), { include: 'value' })
  return showValues(openListedSecrets(scope, secrets), form)
}
