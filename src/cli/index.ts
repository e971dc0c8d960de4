/** The subcommands. Those of the server are found without the command line library: they start fast. */
import type { Group, Spec } from './program.ts'

type ServerCommand = {
  about: string
  options?: Spec['options']
  run: (options?: Record<string, unknown>) => Promise<number>
}

const serverCommands: Record<string, ServerCommand> = {
  serve: {
    about: 'start the server (also without any command)',
    run: async () => (await import('../server/serve.ts')).runServe(),
  },
  demo: {
    about: 'show the main job end to end on this machine, then clean up',
    run: async () => (await import('./demo/index.ts')).runDemo(),
  },
  health: {
    about: 'ask the running server on this machine whether it works; exit code 0 or 1',
    run: async () => (await import('./commands/health.ts')).runHealth(),
  },
  keygen: {
    about: 'print fresh SECRET_KEY, ENCRYPTION_KEY and CRON_SECRET lines for a .env file',
    run: async () => (await import('./commands/keygen.ts')).runKeygen(),
  },
  calculate_metrics: {
    about: 'compute the figures of the last days anew and print them as JSON lines',
    options: [['--days <count>', 'how many days, today included', '2']],
    run: async ({ days = 2 } = {}) =>
      (await import('../server/calculate_metrics.ts')).runCalculateMetrics(days),
  },
  settings: {
    about: 'print every setting of the server with its meaning, default and an example',
    run: async () => (await import('./commands/settings.ts')).runSettings(),
  },
}

/** Runs a command line without the program's name; answers the exit code. */
export async function runCommand(args: string[]): Promise<number> {
  const [name = 'serve', ...rest] = args
  const command = Object.hasOwn(serverCommands, name) ? serverCommands[name] : undefined
  if (command && rest.length === 0) return command.run()
  const [{ runProgram }, { topLevel, groups }] = await Promise.all([
    import('./program.ts'),
    import('./catalogue/index.ts'),
  ])
  const specs = [...Object.entries(serverCommands).map(specOf), ...topLevel]
  return runProgram(args, groups, [...specs, completionSpec(groups, specs)])
}

function specOf([usage, { about, options, run }]: [string, ServerCommand]): Spec {
  const rest = options ? { options } : {}
  return {
    usage,
    about,
    examples: [usage],
    ...rest,
    action: async () => (_context, _args, given) => run(given),
  }
}

function completionSpec(groups: readonly Group[], specs: readonly Spec[]): Spec {
  return {
    usage: 'completion <shell>',
    about: 'print a completion script for bash, zsh or fish',
    examples: [
      'completion bash > ~/.local/share/bash-completion/completions/cloakroom',
      'completion fish > ~/.config/fish/completions/cloakroom.fish',
    ],
    action: async () => (await import('./commands/completion.ts')).completionFor(groups, specs),
  }
}
