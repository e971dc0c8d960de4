import { command } from '../../command.ts'
import { keptToken, token } from '../../options.ts'
import { propose } from '../../proposals/proposing.ts'
import { tokenFor } from '../../session/saved_tokens.ts'
import { CliError } from '../../terminal/cli_error.ts'

/** For agents that work with commands; MCP clients have the tool request_access. */
export default command({
  usage: 'create',
  examples: [
    "proposals create --reason 'The deploy script posts to this API' --host api.example.com --secret DEPLOY_KEY",
  ],
  options: [
    ['--reason <text>', 'reason, shown to the members who decide'],
    ['--host <domain...>', 'hosts to allow, such as api.example.com'],
    ['--secret <secret...>', 'names of secrets to add'],
    keptToken,
    token,
  ],
  action: async (context, _, options) => {
    const { reason, host: hosts = [], secret: names = [] } = options
    if (reason === undefined)
      throw new CliError(
        'usage',
        '--reason is missing',
        'give the reason for the members who decide',
      )
    const text = await tokenFor(context, options)
    const secrets = names.flatMap((list) => list.split(',')).map((key) => ({ key }))
    const state = await propose(context, text, { reason, hosts, secrets })
    const sentence =
      state.status === 'open'
        ? 'Proposed. Members can list it with: cloakroom proposals list'
        : `This was proposed before. Status: ${state.status}.`
    context.output.done(sentence, state, state.id)
  },
})
