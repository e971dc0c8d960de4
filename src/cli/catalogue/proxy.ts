/** The local proxy. */
import type { Spec } from '../program.ts'

export const proxySpecs: readonly Spec[] = [
  {
    usage: 'proxy [command...]',
    about: 'a proxy on this machine that puts credentials in where programs send their names',
    examples: [
      'proxy -- claude',
      'proxy --agent deploy-bot -- ./deploy.sh',
      'proxy --strict -- npm test',
      'proxy --port 8899',
      'proxy trust',
    ],
    options: [
      [
        '--port <number>',
        'port on 127.0.0.1 (8899, or a free one with a command); 0 for a free one',
      ],
      ['--agent <name>', 'whose name the audit records carry'],
      ['--remote', 'values are put in by the resolver (with a token, unless given)'],
      ['--local', 'values are opened here, with your session (without a token, unless given)'],
      ['--strict', 'refuse hosts that are not on the allowlist, instead of passing them untouched'],
      ['--token <token>', 'token of an agent (SERVICE_TOKEN)'],
    ],
    passThrough: true,
    action: async () => (await import('../commands/proxy.ts')).proxy,
  },
]
