import { command } from '../../command.ts'
import { CliError } from '../../terminal/cli_error.ts'
import { durationOf } from '../../terminal/moments.ts'
import { unlock as startAgent } from '../../unlocked/index.ts'

export default command({
  usage: 'unlock',
  examples: ['unlock', 'unlock --for 30m'],
  options: [['--for <time>', 'how long to remember the passphrase: 30m, 8h, 1d', '8h']],
  action: async (context, _, options) => {
    const duration = durationOf(options.for, FOR)
    const key = await context.accounts.sealingKey()
    if (key === null) {
      throw new CliError(
        'nothing_locked',
        'no session on this machine is protected by a passphrase',
        'sessions in a keyring need no unlock; sign in with: cloakroom login EMAIL',
      )
    }
    const until = new Date(Date.now() + duration)
    await startAgent(context.env, key, until)
    const moment = until.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' })
    context.output.done(`Unlocked until ${moment}. Lock now with: cloakroom lock`, {
      unlocked_until: until.toISOString(),
    })
  },
})

const FOR = { option: '--for', example: '30m, 8h or 1d', least: '1m', most: '7d' }
