/**
 * The command line, declared for commander. Actions are loaded when they run. The texts of errors depend on most of the
 * program, so they are loaded when an error occurs.
 */
import { type Argument, Command, CommanderError, Help, Option } from 'commander'
import { version } from '../../package.json'
import { CLOCK_HINT, clockSentence, ServerClocks } from '../client/http/clock_difference.ts'
import { runWatchingClocks } from '../client/http/server_clock.ts'
import { printable } from '../core/printable.ts'
import { ALIASES, type Group, nameOf, type Spec } from './command.ts'
import { argumentText } from './commands/argument_texts.ts'
import { headingOf } from './commands/index.ts'
import type { GlobalOptions } from './context.ts'
import type { Host, Screen } from './host.ts'
import { suggestionLine, suggestNearWords } from './near_words.ts'
import { globalOptions } from './options.ts'
import { CliError } from './terminal/cli_error.ts'

/** The result of a command line. */
type Outcome = {
  exitCode: number
  /** Whether errors are printed as JSON. */
  json: boolean
  /** Commander's text about a line that it cannot parse. */
  complaint: string
  /** The command with the mistake, such as `cloakroom secrets`. */
  path: string
  /** Commands or options that an unknown one may mean. */
  near: readonly string[]
}

const NO_COMMAND = { path: 'cloakroom', near: [] }

/** Runs a command line without the program's name; returns the exit code. */
export async function runProgram(
  host: Host,
  args: string[],
  entries: readonly (Spec | Group)[],
): Promise<number> {
  const { stderr } = host.streams
  const own = args.slice(0, args.includes('--') ? args.indexOf('--') : args.length)
  const outcome: Outcome = {
    exitCode: 0,
    json: own.includes('--json'),
    complaint: '',
    ...NO_COMMAND,
  }
  const clocks = new ServerClocks(host.now ?? Date.now, (difference) => {
    stderr.write(`${printable(clockSentence(difference))}\n→ ${CLOCK_HINT}\n`)
  })
  try {
    const program = build(host, args, entries, outcome)
    await runWatchingClocks(clocks, () => program.parseAsync(args, { from: 'user' }))
    return outcome.exitCode
  } catch (error) {
    if (error instanceof CommanderError) return reportUsage(host, error, outcome)
    const { errorText, explain, withClocks } = await import('./terminal/explain.ts')
    const explanation = withClocks(explain(error), clocks.difference)
    stderr.write(errorText(explanation, outcome.json))
    if (own.includes('--debug') && error instanceof Error) stderr.write(`${error.stack}\n`)
    return explanation.exitCode
  }
}

async function reportUsage(
  { streams }: Host,
  { exitCode, code, message }: CommanderError,
  outcome: Outcome,
): Promise<number> {
  if (exitCode === 0) return 0
  const mistake = code === 'commander.help' ? 'missing command' : message.replace(/^error: /, '')
  const suggestion = outcome.near.length > 0 ? [suggestionLine(outcome.near)] : []
  const error = new CliError('usage', [mistake, ...suggestion], `run ${outcome.path} --help`)
  const isHelp = code === 'commander.help' && !outcome.json
  const { errorText, explain } = await import('./terminal/explain.ts')
  streams.stderr.write(isHelp ? outcome.complaint : errorText(explain(error), outcome.json))
  return error.exitCode
}

function build(
  host: Host,
  args: readonly string[],
  entries: readonly (Spec | Group)[],
  outcome: Outcome,
): Command {
  const { stdout, stderr } = host.streams
  const program = new Command('cloakroom')
    .description(
      'A zero-knowledge credential store and broker for developers, CI runners and AI agents.',
    )
    .version(version, '-V, --version', 'print the version')
    .enablePositionalOptions()
    .showSuggestionAfterError(false)
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      getOutHelpWidth: () => widthOf(stdout),
      getErrHelpWidth: () => widthOf(stderr),
      writeErr: (text) => {
        outcome.complaint += text
      },
    })
  suggestFor(program, outcome)
  for (const option of globalOptions) program.addOption(globalOption(option))
  // Declares only the commands named in the line: the options of all commands are thousands of objects.
  const all = globalOptions.map((option) => globalOption(option).helpGroup('Global options:'))
  for (const entry of entries) {
    const isNamed = args.includes(nameOf(entry))
    const shared = isNamed ? all : []
    const declare = (spec: Spec) => commandOf(host, spec, outcome, program, shared)
    const built = 'commands' in entry ? groupOf(entry, outcome, program, shared) : declare(entry)
    if (isNamed && 'commands' in entry)
      for (const spec of entry.commands) addTo(built, declare(spec))
    program.addCommand(built.helpGroup(headingOf(nameOf(entry))))
  }
  return program
    .configureHelp({ subcommandTerm: termOf, visibleCommands: ({ commands }) => [...commands] })
    .addHelpText('after', '\nRun `cloakroom <command> --help` for options and examples.')
}

/** Makes the command throw its errors, after it has looked for similar words. */
function suggestFor(command: Command, outcome: Outcome): void {
  command.exitOverride((error) => {
    outcome.path = pathTo(command)
    outcome.near = suggestNearWords(command, error.code, error.message)
    throw error
  })
}

const pathTo = (command: Command): string =>
  command.parent ? `${pathTo(command.parent)} ${command.name()}` : command.name()

const termOf = (command: Command): string =>
  [command.name(), ...command.registeredArguments.map(argumentOf)].join(' ')

const argumentOf = (argument: Argument): string => {
  const name = argument.name() + (argument.variadic ? '...' : '')
  return argument.required ? `<${name}>` : `[${name}]`
}

const DEFAULT_WIDTH = 80

/** The width that commander uses itself. */
function widthOf({ isTTY, columns }: Screen): number {
  return isTTY ? (columns ?? DEFAULT_WIDTH) : DEFAULT_WIDTH
}

function groupOf(
  { name, about }: Group,
  outcome: Outcome,
  program: Command,
  shared: readonly Option[],
): Command {
  const group = new Command(name).description(about).copyInheritedSettings(program)
  group.configureHelp({ formatHelp: (command, help) => formatHelp(command, help, []) })
  suggestFor(group, outcome)
  for (const option of shared) group.addOption(option)
  return group
}

/** If two commands of a group share an alias, the first one gets it: `account rm` is `remove`, not `delete`. */
function addTo(parent: Command, built: Command): void {
  const { [built.name()]: alias } = ALIASES
  const isTaken = parent.commands.some((other) => other.aliases().includes(alias ?? ''))
  if (alias !== undefined && !isTaken) built.alias(alias)
  parent.addCommand(built)
}

function commandOf(
  host: Host,
  { usage, names, about, examples, options: own, passThrough, details, run }: Spec,
  outcome: Outcome,
  program: Command,
  shared: readonly Option[],
): Command {
  const [name = '', ...args] = usage.split(' ')
  const built = new Command(name).description(about).copyInheritedSettings(program)
  built.configureHelp({ formatHelp: (command, help) => formatHelp(command, help, examples) })
  suggestFor(built, outcome)
  for (const argument of args) built.argument(argument, argumentText(argument))
  for (const [flags, text, fallback] of own) built.addOption(optionOf(flags, text, fallback))
  for (const option of shared) built.addOption(option)
  if (passThrough) built.passThroughOptions()
  if (details) built.addHelpText('after', () => `\n${details()}`)
  return built.action(async () => {
    const options = built.optsWithGlobals<GlobalOptions>()
    outcome.json = options.json === true
    const { checkArguments } = await import('./arguments.ts')
    const { openContext } = await import('./context.ts')
    const line = { usage, names, options: [...own, ...globalOptions] }
    checkArguments(line, { args: built.args, options: { ...options } })
    outcome.exitCode = await run(openContext(host, options), built.args, built.opts())
  })
}

/** Puts the examples, or the commands of a group, before the arguments and options. Example lines are never wrapped. */
function formatHelp(command: Command, help: Help, examples: readonly string[]): string {
  const blocks = Help.prototype.formatHelp.call(help, command, help).trimEnd().split('\n\n')
  const [usage = '', about = '', ...rest] = blocks
  const lines = examples.map((example) => `\n  $ cloakroom ${example}`).join('')
  const first = rest.filter((block) => block.startsWith('Commands:'))
  const others = rest.filter((block) => !first.includes(block))
  const shown = lines === '' ? first : [`Examples:${lines}`, ...first]
  return `${[usage, about, ...shown, ...others].join('\n\n')}\n`
}

/** `<value...>` may be given several times. Each takes one argument, unlike commander's variadic options. */
function optionOf(flags: string, about: string, fallback: string | undefined): Option {
  const option = new Option(flags.replace('...', ''), about).default(fallback)
  if (!flags.includes('...')) return option
  return option.argParser((value: string, earlier: string[] = []) => [...earlier, value])
}

function globalOption([flags, about]: (typeof globalOptions)[number]): Option {
  return new Option(flags, about)
}
