/** The web console. */
import { command, type Spec } from '../command.ts'
import { consoleOptions } from './options.ts'

export const consoleSpecs: readonly Spec[] = [
  command({
    usage: 'console',
    about: 'open the web console from this program, for any server',
    examples: ['console', 'console --port 9000 --no-open'],
    options: consoleOptions,
    action: async () => (await import('../commands/console.ts')).openInBrowser,
  }),
]
