/** The subcommands. Those of the server are found without the command line library: they start fast. */

import type { Options } from './arguments.ts'
import { type Action, command, type OptionValues, type Spec } from './command.ts'
import { type Host, isOwnProcess, ownProcess } from './host.ts'
import { endWithReader } from './terminal/streams.ts'
import { AGENT_COMMAND } from './unlocked/command.ts'

const DAYS = '2'

type ServerCommand = { run(host: Host): Promise<number>; spec(usage: string): Spec }

/** Run without any arguments, it is given no options. */
function serverCommand<const O extends Options>(
  about: string,
  options: O,
  run: (host: Host, options?: OptionValues<O>, json?: boolean) => Promise<number>,
): ServerCommand {
  const action =
    async (): Promise<Action<O>> =>
    ({ host, output }, _args, given) =>
      run(host, given, output.isJson)
  return {
    run: (host) => run(host),
    spec: (usage) => command({ usage, about, examples: [usage], options, action }),
  }
}

const serverCommands: Record<string, ServerCommand> = {
  serve: serverCommand('start the server', [], async () =>
    (await import('../server/serve.ts')).runServe(),
  ),
  demo: serverCommand('show how it works in one minute, and leave nothing behind', [], async () =>
    (await import('./demo/index.ts')).runDemo(),
  ),
  health: serverCommand(
    'check the server that runs on this machine; exit code 0 or 1',
    [],
    async (host, _, json) => (await import('./commands/operator/health.ts')).runHealth(host, json),
  ),
  keygen: serverCommand(
    'print new SECRET_KEY, ENCRYPTION_KEY and CRON_SECRET lines for a .env file',
    [],
    async (host, _, json) => (await import('./commands/operator/keygen.ts')).runKeygen(host, json),
  ),
  calculate_metrics: serverCommand(
    'recompute the daily metrics and print them as JSON lines',
    [['--days <count>', 'how many days, today included', DAYS]],
    async (_, given) =>
      (await import('../operator/calculate_metrics.ts')).runCalculateMetrics(given?.days ?? DAYS),
  ),
  'self-check': serverCommand(
    'check whether the server can run here with these settings; exit code 0, 1 or 78',
    [],
    async (_host, _given, json) =>
      (await import('./commands/operator/self_check.ts')).runSelfCheck(json),
  ),
  version: serverCommand(
    'print the version; with --json also build details',
    [],
    async (host, _, json) => (await import('./commands/version.ts')).runVersion(host, json),
  ),
  settings: serverCommand(
    'list every server setting with its meaning, default and an example',
    [],
    async (host, _, json) =>
      (await import('./commands/operator/settings.ts')).runSettings(host, json),
  ),
}

/**
 * Runs a command line without the program's name; returns the exit code. In another host than the process
 * it may run beside others: it keeps nothing, and leaves the process as it was.
 */
export async function runCommand(args: string[], host: Host = ownProcess): Promise<number> {
  if (isOwnProcess(host)) return dispatch(args, host)
  const { withSeparateTrust } = await import('../client/http/trust.ts')
  return withSeparateTrust(() => dispatch(args, host))
}

async function dispatch(args: string[], host: Host): Promise<number> {
  // A person at a terminal gets help. A container or service without arguments gets the server.
  if (args.length === 0 && host.streams.stdout.isTTY) return dispatch(['--help'], host)
  const [name = 'serve', ...rest] = args
  if (name !== 'serve') endWithReader(host)
  const known = Object.hasOwn(serverCommands, name) ? serverCommands[name] : undefined
  if (name === AGENT_COMMAND) return (await import('./unlocked/agent.ts')).runAgent()
  if (known && rest.length === 0) return known.run(host)
  const { topLevel, groups } = await import('./catalogue/index.ts')
  const own = Object.entries(serverCommands).map(([usage, { spec }]) => spec(usage))
  const specs = [...own, ...topLevel]
  if (name === '__complete') {
    return (await import('./completion/index.ts')).runComplete(host, rest, groups, specs)
  }
  return (await import('./program.ts')).runProgram(host, args, groups, specs)
}
