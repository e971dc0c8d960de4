/** Runs a command line. Commands of the server are run without the command line library: they start fast. */
import { loadCommand, loadCommands } from './commands/index.ts'
import { type Host, isOwnProcess, ownProcess } from './host.ts'
import { endWithReader } from './terminal/streams.ts'
import { AGENT_COMMAND } from './unlocked/command.ts'

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
  const code = name === 'help' ? await helpOfCommand(rest, host) : null
  if (code !== null) return code
  if (name === AGENT_COMMAND) return (await import('./unlocked/agent.ts')).runAgent()
  const alone = rest.length === 0 ? await loadCommand(VERSION[name] ?? name) : null
  if (alone?.runAlone) return alone.runAlone(host)
  if (name === '__complete') {
    const entries = await loadCommands(rest.slice(0, -1))
    return (await import('./completion/index.ts')).runComplete(host, rest, entries)
  }
  if (isOwnProcess(host) && !LASTING.has(name)) (await import('zod')).config({ jitless: true })
  const { runProgram } = await import('./program.ts')
  return runProgram(host, args, await loadCommands(args))
}

/** Shows the help of the program or of a command, with the page of the same name. `null` leaves the rest to the command. */
async function helpOfCommand(words: readonly string[], host: Host): Promise<number | null> {
  const [name] = words
  if (name === undefined) {
    await dispatch(['--help'], host)
    return null
  }
  const { baseName, commandNames } = await import('./help/topics.ts')
  if (!commandNames().has(name)) return null
  const code = await dispatch([...words, '--help'], host)
  const { readPages } = await import('../console/docs/texts.ts')
  const page = (await readPages()).find(({ path }) => baseName(path) === name)
  if (page && code === 0) host.streams.stdout.write(`\nGuide: cloakroom help ${page.path}\n`)
  return code
}

/** Commands that parse many texts of a form. Others would compile each parser and use it once or twice. */
const LASTING: ReadonlySet<string> = new Set(['serve', 'proxy', 'mcp', 'demo'])

const VERSION: Readonly<Record<string, string | undefined>> = {
  '-V': 'version',
  '--version': 'version',
}
