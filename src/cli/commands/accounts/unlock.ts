/** `cloakroom unlock` and `lock`: the passphrase of this machine once, for a time. */
import type { unlockOptions } from '../../catalogue/options.ts'
import type { Action } from '../../command.ts'
import { CliError } from '../../terminal/cli_error.ts'
import { durationOf } from '../../terminal/moments.ts'
import { lock as endAgent, unlock as startAgent } from '../../unlocked/index.ts'

const FOR = { option: '--for', example: '30m, 8h or 1d', least: '1m', most: '7d' }

export const unlock: Action<typeof unlockOptions> = async (context, _, options) => {
  const duration = durationOf(options.for, FOR)
  const key = await context.accounts.sealingKey()
  if (key === null) {
    throw new CliError(
      'nothing_locked',
      'no session on this machine is under a passphrase: there is nothing to unlock',
      'sessions in a keyring open with it; log in with: cloakroom login EMAIL',
    )
  }
  const until = new Date(Date.now() + duration)
  await startAgent(context.env, key, until)
  const moment = until.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' })
  context.output.done(`Unlocked until ${moment}; cloakroom lock ends that.`, {
    unlocked_until: until.toISOString(),
  })
  return undefined
}

export const lock: Action = async (context) => {
  const wasUnlocked = await endAgent(context.env)
  context.output.done(wasUnlocked ? 'Locked.' : 'It was locked already.', {
    locked: true,
    was_unlocked: wasUnlocked,
  })
  return undefined
}
