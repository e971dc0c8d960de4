/** The web console. */
import { command, type Spec } from '../command.ts'

export const consoleOptions = [
  ['--port <number>', 'port on loopback; 0 for a free one', '8890'],
  ['--no-open', 'do not open it in a browser'],
] as const

export const consoleSpecs: readonly Spec[] = [
  command({
    usage: 'console',
    about: 'open the web console from this program, for any server',
    examples: ['console', 'console --port 9000 --no-open'],
    options: consoleOptions,
    action: async () => (await import('../commands/console.ts')).openInBrowser,
  }),
]
