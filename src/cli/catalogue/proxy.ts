/** The local proxy. */
import { command, type Spec } from '../command.ts'
import { proxyOptions } from './options.ts'

export const proxySpecs: readonly Spec[] = [
  command({
    usage: 'proxy [command...]',
    about: 'run a local proxy that replaces secret names with values',
    examples: [
      'proxy -- claude',
      'proxy --agent deploy-bot -- ./deploy.sh',
      'proxy --strict -- npm test',
      'proxy --port 8899',
      'proxy trust',
    ],
    options: proxyOptions,
    passThrough: true,
    action: async () => (await import('../commands/proxy.ts')).proxy,
  }),
]
