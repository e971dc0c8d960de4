/** The subcommands. Each is loaded when it is asked for, so that none slows another's start. */
import { version } from '../../package.json'
import { EX_USAGE } from './exit.ts'

type Command = { about: string; run: (args: string[]) => Promise<number> }

const commands: Record<string, Command> = {
  serve: {
    about: 'start the server (also without any command)',
    run: async () => (await import('./serve.ts')).runServe(),
  },
  demo: {
    about: 'show the main job end to end on this machine, then clean up',
    run: async () => (await import('./demo.ts')).runDemo(),
  },
  health: {
    about: 'ask the running server on this machine whether it works; exit code 0 or 1',
    run: async () => (await import('./health.ts')).runHealth(),
  },
  keygen: {
    about: 'print fresh SECRET_KEY, ENCRYPTION_KEY and CRON_SECRET lines for a .env file',
    run: async () => (await import('./keygen.ts')).runKeygen(),
  },
  config: {
    about: 'print every setting with its meaning, default and an example',
    run: async () => (await import('./config.ts')).runConfig(),
  },
}

/** Runs a command line without the program's name; answers the exit code. */
export async function runCommand([name = 'serve', ...args]: string[]): Promise<number> {
  if (name === '--version' || name === 'version') return print(version)
  if (name === '--help' || name === '-h' || name === 'help') return print(usage())
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (command && args.length === 0) return command.run(args)
  process.stderr.write(
    `cloakroom: ${command ? `${name} takes no arguments` : 'there is no such command'}\n\n${usage()}\n`,
  )
  return EX_USAGE
}

function print(text: string): number {
  process.stdout.write(`${text}\n`)
  return 0
}

function usage(): string {
  const lines = Object.entries(commands).map(([name, { about }]) => `  ${name.padEnd(8)} ${about}`)
  return [
    'Usage: cloakroom [command]',
    '',
    ...lines,
    '  version  print the version',
    '  help     print this',
  ].join('\n')
}
