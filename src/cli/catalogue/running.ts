/** Commands that use credentials. */
import type { Spec } from '../program.ts'
import { allowEmpty } from './options.ts'

const token = ['--token <token>', 'token of an agent or workload (SERVICE_TOKEN)'] as const

export const runningSpecs: readonly Spec[] = [
  {
    usage: 'run [command...]',
    about: 'run a command with the environment in its variables, and nowhere else',
    examples: ['run -- npm start', 'run --env production -- ./deploy.sh', 'run --no-mask -- env'],
    options: [
      token,
      ['--no-mask', 'do not mask the values in what the command prints'],
      allowEmpty,
    ],
    passThrough: true,
    action: async () => (await import('../commands/run.ts')).run,
  },
  {
    usage: 'call <url>',
    about: 'send one request through the resolver, with credentials by name',
    examples: [
      "call https://api.stripe.com/v1/charges -H 'Authorization: Bearer SVC_SECRET_STRIPE_KEY'",
      "call https://api.example.com/items -X POST -H 'X-Api-Key: SVC_SECRET_KEY' -H 'Content-Type: application/json' -d '{\"name\":\"x\"}'",
    ],
    options: [
      ['-X, --request <method>', 'GET, or POST with a body, unless given'],
      ['-H, --header <line...>', 'a header, with placeholders such as SVC_SECRET_NAME'],
      ['-d, --data <text>', 'the body; @file reads a file, @- standard input'],
      ['-i, --include', 'print status and headers too'],
      ['-f, --fail', 'exit with 1 when the upstream answers 400 or above'],
      token,
    ],
    action: async () => (await import('../commands/call.ts')).call,
  },
  {
    usage: 'mcp',
    about: 'serve tools to an AI agent over the Model Context Protocol (stdio)',
    examples: ['mcp', 'mcp --token svc_agt_…'],
    options: [token],
    action: async () => (await import('../commands/mcp.ts')).mcp,
  },
]
