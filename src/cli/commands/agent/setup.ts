/**
 * `cloakroom agent setup`: changes a program's settings file, so that the program starts `cloakroom mcp` for an agent or
 * reaches a remote MCP server through forward mode.
 */
import { dirname, join, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { type ProgramEntry, programFile, SERVER_NAME } from '../../../client/agents/agent_setup.ts'
import { fromUtf8 } from '../../../core/crypto/encoding.ts'
import { TOKEN_PATTERN } from '../../../core/crypto/token.ts'
import { withEntry } from '../../agent_setup/formats.ts'
import { json } from '../../agent_setup/json.ts'
import {
  entryName,
  type RemoteServer,
  remoteServerOf,
  stepsBefore,
  toReachedServer,
  withoutUnknown,
} from '../../agent_setup/remote.ts'
import { toml } from '../../agent_setup/toml.ts'
import { type AgentProgram, toolNames, tools } from '../../agent_setup/tools.ts'
import { command, type OptionValues } from '../../command.ts'
import type { Context } from '../../context.ts'
import { demandInside, isThere, readNamedFile } from '../../files/read.ts'
import { demandReplaceable, replaceFile } from '../../files/replace.ts'
import { buildNotFoundError } from '../../named.ts'
import { keptToken, yes } from '../../options.ts'
import { type WorkspaceScope, workspaceScope } from '../../scope.ts'
import { readSavedToken } from '../../session/saved_tokens.ts'
import { findProjectFile, isAddress, type SettingName, settingNames } from '../../settings.ts'
import { CliError } from '../../terminal/cli_error.ts'
import { requireConfirmation } from '../../terminal/confirmed.ts'
import { type Agent, agentNamed, agentsOf } from '../../tokens/agents.ts'

const options = [
  keptToken,
  ['--mcp-server <url>', 'add a remote MCP server, reached in forward mode'],
  ['--secret <secret>', 'secret for that server (default for mcp.linear.app: LINEAR_MCP)'],
  ['--name <name>', 'entry name (default for mcp.linear.app: linear)'],
  ['--user', 'use your user settings of the tool instead of the project settings'],
  ['--print', 'print the entry without writing it'],
  ['--remove', 'remove the entry from the file'],
  yes,
] as const

export default command({
  usage: 'setup <tool>',
  examples: [
    'agent setup claude-code --agent deploy-bot',
    'agent setup codex --agent deploy-bot --user',
    'agent setup vscode --agent deploy-bot --print',
    'agent setup cursor --remove',
    'agent setup claude-code --mcp-server https://mcp.linear.app/mcp',
    'agent setup claude-code --remove --name linear',
  ],
  options,
  action: async (context, [name], options) => {
    const tool = toolNamed(name)
    if (options.print && options.remove)
      throw new CliError('usage', '--print and --remove exclude each other')
    const remote = remoteServerOf(context.settings, options)
    const path = pathOf(context, tool, options)
    const place = { name, tool, path, server: entryName(remote, options) }
    const entry = options.remove ? null : await entryFor(context, tool, remote, options)
    if (entry && options.print) {
      context.output.raw(programFile(tool, entry, place.server))
      context.output.note(`Put it in ${path}`)
    } else {
      await write(context, place, entry, options)
    }
    if (!entry || !remote) return
    for (const step of stepsBefore(remote, options.agent ?? '<agent>')) context.output.note(step)
  },
})

type Place = { name: string; tool: AgentProgram; path: string; server: string }

async function write(
  context: Context,
  place: Place,
  entry: ProgramEntry | null,
  options: Options,
): Promise<void> {
  const { tool, path, server } = place
  const { before } = changeFile(context, place, entry)
  const isDone = isDeepStrictEqual(before, entry)
  if (!isDone) {
    show(context, path, [linesOf(place, before, entry), linesOf(place, entry, entry)])
    await requireConfirmation(context.host, options, `Write this to ${path}?`)
    // Read again: the program may have written its file while the question was open.
    const { text } = changeFile(context, place, entry)
    replaceFile(path, text, options.user ? 'secret' : 'committed')
  }
  const [does, doesNot] =
    server === SERVER_NAME ? ['starts', 'does not start'] : ['reaches', 'does not reach']
  const what = `${tool.title} ${entry ? does : doesNot} ${server}${isDone ? ' already' : ''}`
  context.output.done(`${what}: ${path}`, {
    tool: place.name,
    file: path,
    changed: !isDone,
  })
  if (!isDone) context.output.note(`Restart ${tool.title}.`)
}

const formats = { json, toml }

type Options = OptionValues<typeof options>

function toolNamed(name: string): AgentProgram {
  const tool = Object.hasOwn(tools, name) ? tools[name] : undefined
  if (tool) return tool
  throw buildNotFoundError(name, toolNames, { what: 'program', list: 'agent setup --help' })
}

/** @throws CliError where links lead out of the project's folder */
function pathOf({ host, env, cwd }: Context, tool: AgentProgram, { user }: Options): string {
  const projectFile = findProjectFile(cwd)
  const folder = projectFile === null ? cwd : dirname(projectFile)
  const paths = user ? tool.user(env) : tool.project.map((name) => join(folder, name))
  const [first = ''] = paths
  const path = paths.find((candidate) => isThere(candidate)) ?? first
  if (!user) demandInside(host, dirname(path), folder)
  return path
}

/**
 * Reaches the remote server, else starts `cloakroom mcp` with the token that this machine keeps.
 *
 * @throws CliError when it keeps none
 */
async function entryFor(
  context: Context,
  tool: AgentProgram,
  remote: RemoteServer | null,
  options: Options,
): Promise<ProgramEntry> {
  const { cwd, env } = context
  if (remote) return tool.remote(toReachedServer(await context.resolver(), remote))
  const program = Bun.which(SERVER_NAME, { cwd, PATH: env.PATH ?? '' })
  if (program === null)
    context.output.warn('cloakroom is not on the PATH, so that program will not find it')
  const own = await agentArguments(context, options)
  // A program of the desktop may have another PATH than the shell; a file of the project is for others too.
  const command = options.user && program !== null ? resolve(cwd, program) : SERVER_NAME
  return tool.entry([command, 'mcp', ...own])
}

async function agentArguments(
  context: Context,
  { agent: named, user }: Options,
): Promise<string[]> {
  const scope = await workspaceScope(context)
  const agents = await agentsOf(scope)
  const agent =
    named === undefined ? requireOnlyKept(scope, agents) : await agentNamed(context, scope, named)
  readSavedToken(scope.session, agent)
  const isUnique = agents.filter(({ name }) => name === agent.name).length === 1
  const own = ['--agent', isUnique ? agent.name : agent.id, ...settingsOf(context, user ?? false)]
  if (!user) return own
  const { caFile, cwd, insecureHttp } = context
  return [
    ...own,
    ...['--account', scope.session.choice.account.name],
    ...(caFile === undefined ? [] : ['--ca-file', resolve(cwd, caFile)]),
    ...(insecureHttp ? ['--insecure-http'] : []),
  ]
}

/** @throws CliError if the agent is ambiguous */
function requireOnlyKept({ session }: WorkspaceScope, agents: readonly Agent[]): Agent {
  const kept = agents.filter(({ id }) => session.stored.agentTokens[id] !== undefined)
  const [only, another] = kept
  if (only && !another) return only
  const names = kept.map(({ name }) => name).join(', ')
  throw only
    ? new CliError('ambiguous_name', `this machine has tokens of ${names}`, 'choose with --agent')
    : new CliError(
        'token_required',
        'this machine keeps no token of an agent',
        'create one with: cloakroom agent create <name> --save',
      )
}

/** The project is the token's. */
const FLAGS: Readonly<Record<Exclude<SettingName, 'project'>, string>> = {
  server: '--server',
  resolver: '--resolver',
  workspace: '--workspace',
  environment: '--env',
}

/**
 * A user's file gets all current settings, because the program may start us in any folder. A project's file gets only
 * those from the command line, because the others differ for each person.
 */
function settingsOf({ settings }: Context, isForUser: boolean): string[] {
  return settingNames.flatMap((name) => {
    const setting = settings[name]
    if (name === 'project' || setting === undefined) return []
    const { origin, value } = setting
    const counts = isForUser ? origin !== 'default' || isAddress(name) : origin === 'flag'
    return counts ? [FLAGS[name], value] : []
  })
}

/** @throws CliError for a file that cannot be edited without changing other content */
function changeFile({ host }: Context, { tool, path, server }: Place, entry: ProgramEntry | null) {
  const text = demandReplaceable(path) === null ? '' : fromUtf8(readNamedFile(host, path))
  try {
    if (text === null) throw new Error('not UTF-8')
    const format = formats[tool.format]
    const servers = tool.serversIn?.(format.parse(text)) ?? tool.servers
    return withEntry(format, text, [...servers, server], entry)
  } catch {
    throw new CliError(
      'invalid_file',
      `${path} is not a valid ${tool.title} file; nothing was written`,
      'fix it, or add the output of --print',
    )
  }
}

/** Only the cloakroom entry, because its neighbours may contain tokens. */
function show({ output }: Context, path: string, [gone, come]: [string[], string[]]): void {
  output.warn(path)
  for (const line of gone) output.warn(`${come.includes(line) ? ' ' : '-'} ${line}`)
  for (const line of come.filter((line) => !gone.includes(line))) output.warn(`+ ${line}`)
}

/** Without values of variables, which may contain a token. */
function linesOf(
  { tool, server }: Place,
  entry: ProgramEntry | null,
  next: ProgramEntry | null,
): string[] {
  if (entry === null) return []
  // An entry of another name may be the person's.
  const shown = server === SERVER_NAME ? entry : withoutUnknown(entry, next)
  const hidden = Object.entries(shown).map(([name, value]) => [
    name,
    /^env(ironment)?$/.test(name) ? Object.keys(value ?? {}) : value,
  ])
  const text = programFile(tool, Object.fromEntries(hidden), server).replaceAll(TOKEN_PATTERN, '…')
  return text.trimEnd().split('\n')
}
