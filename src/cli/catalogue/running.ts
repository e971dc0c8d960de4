/** Commands that use credentials. */
import { command, type Spec } from '../command.ts'
import { callOptions, echoOptions, injectOptions, mcpOptions, runOptions } from './options.ts'

export const runningSpecs: readonly Spec[] = [
  command({
    usage: 'run [command...]',
    about: 'run a command with the secrets in its environment variables',
    examples: [
      'run -- npm start',
      'run --env production -- ./deploy.sh',
      'run --no-mask -- env',
      'run --watch -- npm start',
      'run --fallback /var/lib/app/secrets.sealed -- ./server',
      'run --allow-env NODE_OPTIONS -- npm test',
    ],
    options: runOptions,
    passThrough: true,
    action: async () => (await import('../commands/run.ts')).run,
  }),
  command({
    usage: 'inject',
    about: 'fill a template with secrets: {{ NAME }} and svc://project/environment/NAME',
    examples: [
      'inject -i app.conf.tpl -o app.conf',
      'inject --env production < app.conf.tpl | docker config create app -',
      'inject -i app.conf.tpl -o app.conf --from shared/production',
    ],
    options: injectOptions,
    action: async () => (await import('../commands/inject.ts')).inject,
  }),
  command({
    usage: 'call <url>',
    about: 'send one request through the resolver, with secrets by name',
    examples: [
      "call --agent deploy-bot https://api.stripe.com/v1/charges -H 'Authorization: Bearer SVC_SECRET_STRIPE_KEY'",
      "call https://api.stripe.com/v1/charges -H 'Authorization: Bearer SVC_SECRET_STRIPE_KEY'",
      "call https://api.example.com/items -X POST -H 'X-Api-Key: SVC_SECRET_KEY' -H 'Content-Type: application/json' -d '{\"name\":\"x\"}'",
    ],
    options: callOptions,
    action: async () => (await import('../commands/call.ts')).call,
  }),
  command({
    usage: 'echo [command...]',
    about: 'serve an HTTPS API for trials that prints and returns what it receives',
    examples: ['echo -- cloakroom serve', 'echo', 'echo --port 9443'],
    options: echoOptions,
    passThrough: true,
    action: async () => (await import('../commands/echo.ts')).echo,
  }),
  command({
    usage: 'mcp',
    about: 'serve tools to an AI agent over the Model Context Protocol (stdio)',
    examples: ['mcp', 'mcp --agent deploy-bot', 'mcp --token svc_agt_…'],
    options: mcpOptions,
    action: async () => (await import('../commands/mcp.ts')).mcp,
  }),
]
