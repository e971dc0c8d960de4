/** `cloakroom inject`: a template with its references replaced by values, which are opened here. */
import { resolve } from 'node:path'
import { fromUtf8 } from '../../../core/crypto/encoding.ts'
import { command } from '../../command.ts'
import { readNamedFile } from '../../files/read.ts'
import { writePrivately } from '../../files/written.ts'
import type { Host } from '../../host.ts'
import { force, noMine, token } from '../../options.ts'
import { type Filled, fillTemplate } from '../../templates/fill.ts'
import type { NamedPlace } from '../../templates/parse.ts'
import { openPlaces } from '../../templates/places.ts'
import { CliError } from '../../terminal/cli_error.ts'
import { tokenInstead } from '../../tokens/token_work.ts'

export default command({
  usage: 'inject',
  examples: [
    'inject -i app.conf.tpl -o app.conf',
    'inject --env production < app.conf.tpl | docker config create app -',
    'inject -i app.conf.tpl -o app.conf --from shared/production',
  ],
  options: [
    token,
    ['-i, --in-file <path>', 'template file (default: standard input)'],
    ['-o, --out-file <path>', 'output file, readable only by you (default: standard output)'],
    noMine,
    ['--from <place...>', 'allow svc:// references to this environment: shared/production'],
    force,
  ],
  action: async (context, _, options) => {
    const { inFile = '-', from = [], force } = options
    const outFile = options.outFile === '-' ? undefined : options.outFile
    const token = tokenInstead(context, options)
    const named = from.map(placeNamed)
    const template = readTemplate(context.host, inFile, outFile)
    const work = fillTemplate(template, () => openPlaces(context, token, named, options))
    const { text, used } = await context.output.during('fetching and decrypting', work)
    if (outFile === undefined) {
      if (context.output.isJson) context.output.record({ text, used })
      else context.output.raw(text)
      context.output.note(sentence(used))
      return
    }
    const changed = await writePrivately(context.host, outFile, text, { yes: force === true })
    const done = changed ? 'written (readable only by you)' : 'has this content already'
    context.output.done(`${outFile} ${done}: ${sentence(used)}`, { file: outFile, changed, used })
  },
})

const MAX_TEMPLATE = 4_194_304

/** @throws CliError */
function placeNamed(text: string): NamedPlace {
  const [project, environment, ...more] = text.split('/')
  if (project && environment && more.length === 0) return { project, environment }
  throw new CliError('usage', '--from is a project and an environment: shared/production')
}

/** @throws CliError if it is not text, or too long */
function readTemplate(host: Host, path: string, outFile: string | undefined): string {
  const { cwd, streams } = host
  if (path === '-' && streams.stdin.isTTY) {
    throw new CliError('usage', 'give a template with -i or on standard input')
  }
  if (outFile !== undefined && resolve(cwd, path) === resolve(cwd, outFile)) {
    throw new CliError('usage', '-i and -o are the same file, so the template would be overwritten')
  }
  const bytes = readNamedFile(host, path)
  const name = path === '-' ? 'the template' : path
  if (bytes.length > MAX_TEMPLATE) {
    throw new CliError('invalid_file', `${name} exceeds the template limit of 4 MiB`)
  }
  const text = fromUtf8(bytes)
  if (text === null) throw new CliError('invalid_file', `${name} is not UTF-8 text`)
  return text
}

function sentence(used: Filled['used']): string {
  const parts = used.map(({ environment, names }) => `${names.join(', ')} of ${environment}`)
  return parts.length === 0 ? 'no references' : parts.join('; ')
}
