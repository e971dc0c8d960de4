/**
 * `cloakroom proxy`: programs of this machine send the names of credentials, and the proxy puts the
 * values in. With a command after `--` it lives as long as that.
 */
import { join } from 'node:path'
import { aliasOf } from '../../../core/config/aliases.ts'
import { openAuthority } from '../../../proxy/authority.ts'
import type { Backend } from '../../../proxy/backend.ts'
import { type LocalProxy, openProxy } from '../../../proxy/index.ts'
import { nodeEnvironment } from '../../../proxy/node_agents.ts'
import {
  bundleVariables,
  javaEnvironment,
  phpEnvironment,
  proxyEnvironment,
  trustEnvironment,
  writeBundle,
  writeTrustStore,
} from '../../../proxy/trust.ts'
import { withUnfilledNotices } from '../../../proxy/unfilled_notice.ts'
import { command, type OptionValues } from '../../command.ts'
import type { Context } from '../../context.ts'
import { openRunFolder } from '../../files/run_folder.ts'
import { homeOf } from '../../host.ts'
import { readInherited } from '../../inherited.ts'
import { listenOrExplain, portFrom, waitUntilStopped } from '../../port.ts'
import { openBackend } from '../../proxy/backend.ts'
import { hintFor } from '../../proxy/hints.ts'
import { type Drawn, drawVariables, NOTHING_DRAWN, type Skipped } from '../../proxy/variables.ts'
import { configDirectory } from '../../settings.ts'
import { runChild } from '../../terminal/child.ts'
import { CliError } from '../../terminal/cli_error.ts'
import { tokenOf } from '../../tokens/given_token.ts'

const options = [
  ['--port <number>', 'port on 127.0.0.1, 0 for a free one (default: 8899, or 0 with a command)'],
  ['--agent <agent>', 'agent name for audit records'],
  ['--remote', 'insert values on the resolver (default with a token)'],
  ['--local', 'insert values on this machine, with your session (default without a token)'],
  ['--strict', 'reject hosts that are not on the allowlist (default: pass them unchanged)'],
  ['--stand-ins <choice>', 'set credential variables to placeholders: all or none', 'all'],
  ['--print-env', 'print the variables set for the command'],
  ['--token <token>', 'agent token (SERVICE_TOKEN, SERVICE_TOKEN_FILE)'],
] as const

export default command({
  usage: 'proxy [command...]',
  examples: [
    'proxy -- claude',
    'proxy --agent deploy-bot -- ./deploy.sh',
    'proxy --strict -- npm test',
    'proxy --port 8899',
    'proxy trust',
  ],
  options,
  passThrough: true,
  action: async (context, command, options) => {
    if (command.length === 1 && command[0] === 'trust') return trust(context)
    const notices = openNotices(context, command.length > 0)
    const own: { port: number | null } = { port: null }
    const backend = await openBackend(context, {
      way: wayOf(context, options),
      agent: options.agent ?? null,
      token: tokenOf(context, options) ?? null,
      stateDirectory: stateDirectory(context.env),
      ownPorts: () => (own.port === null ? [] : [own.port]),
      notice: notices.say,
    })
    const drawn = wantsStandIns(options) ? await draw(context, backend) : NOTHING_DRAWN
    const noticing = withUnfilledNotices(drawn.through(backend), notices.say)
    const running = await start(context, noticing, options, command.length > 0)
    own.port = running.port
    try {
      return await runInFolder(context.env, (folder) =>
        work(context, { running, folder, drawn }, command, options),
      )
    } finally {
      await running.close()
      notices.flush()
    }
  },
})

const DEFAULT_PORT = 8899

type Options = OptionValues<typeof options>

/** Uses a token if set. Then, this machine receives no values. */
function wayOf({ givenToken }: Context, options: Options): 'remote' | 'local' {
  if (options.remote && options.local) {
    throw new CliError('usage', '--remote and --local exclude each other')
  }
  const hasToken = options.token !== undefined || Boolean(givenToken())
  if (options.remote || (hasToken && !options.local)) return 'remote'
  return 'local'
}

function wantsStandIns({ standIns }: Options): boolean {
  if (standIns === 'all' || standIns === 'none') return standIns === 'all'
  throw new CliError('usage', '--stand-ins must be all or none')
}

/** A server that cannot be asked now may be there when the command needs it. */
async function draw({ output }: Context, backend: Backend): Promise<Drawn> {
  try {
    return await drawVariables(backend)
  } catch (error) {
    output.warn(`cloakroom: no stand-ins: ${error instanceof Error ? error.message : 'no reply'}`)
    return NOTHING_DRAWN
  }
}

function portOf({ port }: Options, hasCommand: boolean): number {
  if (port === undefined) return hasCommand ? 0 : DEFAULT_PORT
  return portFrom(port)
}

async function start(
  { env }: Context,
  backend: Backend,
  options: Options,
  hasCommand: boolean,
): Promise<LocalProxy> {
  const port = portOf(options, hasCommand)
  const directory = proxyDirectory(env)
  const strict = options.strict ?? false
  return listenOrExplain(port, () => openProxy({ backend, directory, port, strict }))
}

/** Each run has separate files, because two proxies may trust different authorities. */
async function runInFolder<T>(
  env: Context['env'],
  act: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = openRunFolder(join(proxyDirectory(env), 'runs'))
  try {
    return await act(folder.path)
  } finally {
    folder.remove()
  }
}

type Run = { running: LocalProxy; folder: string; drawn: Drawn }

async function work(
  context: Context,
  { running, folder, drawn }: Run,
  command: readonly string[],
  options: Options,
): Promise<number> {
  const bundle = writeBundle(folder, running.certificate, context.env)
  const own = {
    ...proxyEnvironment(running.url, context.env, options.strict ?? false),
    ...trustEnvironment(bundle),
    ...nodeEnvironment(bundle, context.env),
    ...phpEnvironment(bundle, context.env),
    ...javaEnvironment(running.url, writeTrustStore(bundle), context.env, options.strict ?? false),
    SERVICE_PROXY_BASE_URL: running.baseUrl,
    [aliasOf('SERVICE_PROXY_BASE_URL')]: running.baseUrl,
  }
  const { set, skipped } = drawn.variables(Object.keys(own))
  const added = { ...set, ...own }
  nameSkipped(context, skipped)
  if (command.length === 0) {
    const stopped = waitUntilStopped()
    announce(context, running, added)
    return stopped
  }
  const hint = await hintFor(command, { PATH: context.env.PATH, ...added })
  if (hint !== null) context.output.warn(`cloakroom: ${hint}`)
  if (options.printEnv) context.output.warn(...exportLines(added).trimEnd().split('\n'))
  return runChild(context.host, command, {
    env: { ...readInherited(context.env), ...added },
    masked: {},
  })
}

/** Variables that were not set, by the reason. */
function nameSkipped({ output }: Context, skipped: readonly Skipped[]): void {
  for (const [reason, some] of Map.groupBy(skipped, (one) => one.reason)) {
    output.warn(`cloakroom: not set: ${some.map(({ name }) => name).join(', ')} (${reason})`)
  }
}

function announce(
  { output }: Context,
  { port, url, baseUrl }: LocalProxy,
  added: Record<string, string>,
): void {
  if (output.isJson) {
    output.record({ port, https_proxy: url, base_url: baseUrl, environment: added })
    return
  }
  output.warn(`The proxy listens on 127.0.0.1:${port}. Set this for programs that use it:`)
  output.raw(exportLines(added))
  output.warn(`Base URL of https://api.example.com: ${baseUrl}/api.example.com`, 'Stop: Ctrl-C')
}

function exportLines(variables: Record<string, string>): string {
  const quoteArgument = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
  return Object.entries(variables)
    .map(([name, value]) => `export ${name}=${quoteArgument(value)}\n`)
    .join('')
}

/** Creates the certificate authority if it is missing, and prints how programs can trust it. */
async function trust({ output, env }: Context): Promise<number> {
  const directory = proxyDirectory(env)
  const { certificate, certificateFile } = await openAuthority(directory)
  const bundle = writeBundle(directory, certificate, env)
  const variables = trustEnvironment(bundle)
  if (output.isJson) {
    output.record({ certificate: certificateFile, bundle, environment: variables })
    return 0
  }
  output.warn(
    `Your proxy's certificate authority: ${certificateFile}`,
    'It was created on this machine, and its key stays here. Only programs configured to trust it',
    'use it. Do not install it system-wide. These lines configure them, with a bundle of the authorities',
    'of the system and yours:',
    '',
  )
  for (const [name, readers] of Object.entries(bundleVariables)) {
    output.raw(`# ${readers}\n${exportLines({ [name]: bundle })}`)
  }
  output.warn('', 'cloakroom proxy -- COMMAND sets these variables and the proxy address itself.')
  return 0
}

/** Prints nothing while a command uses the terminal. */
function openNotices({ output }: Context, isHeldBack: boolean) {
  const held: string[] = []
  return {
    say: (text: string) => void (isHeldBack ? held.push(text) : output.warn(`cloakroom: ${text}`)),
    flush: () => {
      for (const text of new Set(held)) output.warn(`cloakroom: ${text}`)
    },
  }
}

function proxyDirectory(env: Context['env']): string {
  return join(configDirectory(env), 'proxy')
}

/** `$XDG_STATE_HOME/cloakroom`, where the audit waits for the server. */
function stateDirectory(env: Context['env']): string {
  return join(env.XDG_STATE_HOME || join(homeOf(env), '.local', 'state'), 'cloakroom')
}
