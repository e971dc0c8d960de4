/** The command line as commander knows it. Actions are loaded when they run, so that none slows another. */
import { Command, CommanderError, Option } from 'commander'
import { version } from '../../package.json'
import { EX_USAGE } from '../platform/exit_codes.ts'
import type { Group, Spec } from './command.ts'
import { openContext } from './context.ts'
import { explain } from './terminal/explain.ts'

/** Runs a command line without the program's name; returns the exit code. */
export async function runProgram(
  args: string[],
  groups: readonly Group[],
  specs: readonly Spec[],
): Promise<number> {
  const outcome = { exitCode: 0 }
  const program = build(groups, specs, outcome)
  try {
    await program.parseAsync(args, { from: 'user' })
    return outcome.exitCode
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EX_USAGE
    return report(error, args.includes('--debug'))
  }
}

function report(error: unknown, debug: boolean): number {
  const { exitCode, lines } = explain(error)
  process.stderr.write(`cloakroom: ${lines.join('\n')}\n`)
  if (debug && error instanceof Error) process.stderr.write(`${error.stack}\n`)
  return exitCode
}

function build(
  groups: readonly Group[],
  specs: readonly Spec[],
  outcome: { exitCode: number },
): Command {
  const program = new Command('cloakroom')
    .description(
      'A zero-knowledge store and broker of credentials for developers, CI runners and AI agents.',
    )
    .version(version, '-V, --version', 'print the version')
    .enablePositionalOptions()
    .exitOverride()
    .showHelpAfterError('(add --help for examples)')
  for (const option of globalOptions()) program.addOption(option)
  for (const spec of specs) program.addCommand(commandOf(spec, outcome))
  for (const { name, about, commands } of groups) {
    const group = new Command(name).description(about).exitOverride()
    for (const spec of commands) group.addCommand(commandOf(spec, outcome))
    program.addCommand(group)
  }
  return program
}

function commandOf(
  { usage, about, examples, options, passThrough, run }: Spec,
  outcome: { exitCode: number },
): Command {
  const [name = '', ...args] = usage.split(' ')
  const built = new Command(name).description(about).exitOverride()
  for (const argument of args) built.argument(argument)
  for (const [flags, text, fallback] of options) built.addOption(optionOf(flags, text, fallback))
  for (const option of globalOptions()) built.addOption(option.hideHelp())
  if (passThrough) built.passThroughOptions()
  const lines = examples.map((example) => `  $ cloakroom ${example}`)
  built.addHelpText('after', `\nExamples:\n${lines.join('\n')}`)
  return built.action(async () => {
    outcome.exitCode = (await run(openContext(built), built)) ?? 0
  })
}

/** `<value...>` may be given several times; unlike commander's own, each takes one argument. */
function optionOf(flags: string, about: string, fallback: string | undefined): Option {
  const option = new Option(flags.replace('...', ''), about).default(fallback)
  if (!flags.includes('...')) return option
  return option.argParser((value: string, earlier: string[] = []) => [...earlier, value])
}

/** Understood before and after the command's name. */
function globalOptions(): Option[] {
  return [
    new Option('--server <url>', 'control plane (SERVICE_SERVER_URL)'),
    new Option('--resolver <url>', 'resolver (SERVICE_RESOLVER_URL)'),
    new Option('-w, --workspace <name>', 'workspace, by name or id'),
    new Option('-p, --project <name>', 'project, by name or id'),
    new Option('-e, --env <name>', 'environment of the project'),
    new Option('--json', 'print JSON for scripts'),
    new Option('--insecure-storage', 'keep the session unencrypted where there is no keyring'),
    new Option('--insecure-http', 'talk to other machines unencrypted (SERVICE_INSECURE_HTTP=1)'),
    new Option('--debug', 'show where an error came from'),
  ]
}
