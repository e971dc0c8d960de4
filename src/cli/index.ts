/** The subcommands. Those of the server are found without the command line library: they start fast. */
import type { Group, Spec } from './program.ts'

type ServerCommand = { about: string; run: () => Promise<number> }

const serverCommands: Record<string, ServerCommand> = {
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
  settings: {
    about: 'print every setting of the server with its meaning, default and an example',
    run: async () => (await import('./settings_table.ts')).runSettings(),
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

function specOf([usage, { about, run }]: [string, ServerCommand]): Spec {
  return { usage, about, examples: [usage], action: async () => run }
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
