/** The local proxy. */
import { command, type Spec } from '../command.ts'
import { proxyOptions } from './options.ts'

export const proxySpecs: readonly Spec[] = [
  command({
    usage: 'proxy [command...]',
    about: 'a proxy on this machine that puts credentials in where programs send their names',
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
