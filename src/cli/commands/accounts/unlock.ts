/** `cloakroom unlock` and `lock`: the passphrase of this machine once, for a time. */
import type { unlockOptions } from '../../catalogue/options.ts'
import type { Action } from '../../command.ts'
import { CliError } from '../../terminal/cli_error.ts'
import { lock as endAgent, unlock as startAgent } from '../../unlocked/index.ts'

const UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const
const MAX_MS = 7 * UNITS.d

export const unlock: Action<typeof unlockOptions> = async (context, _, options) => {
  const duration = durationOf(options.for)
  const key = await context.accounts.sealingKey()
  if (key === null) {
    throw new CliError(
      'nothing_locked',
      'no session on this machine is under a passphrase: there is nothing to unlock',
      'sessions in a keyring open with it; log in with: cloakroom login',
    )
  }
  const until = new Date(Date.now() + duration)
  await startAgent(context.env, key, until)
  context.output.done(`Unlocked until ${until.toLocaleString()}; cloakroom lock ends that.`, {
    unlocked_until: until.toISOString(),
  })
  return undefined
}

/** @throws CliError */
function durationOf(text: string): number {
  const [, count = '', unit = ''] = /^(\d{1,4})([mhd])$/.exec(text) ?? []
  const ms = Number(count) * (UNITS[unit as keyof typeof UNITS] ?? 0)
  if (ms > 0 && ms <= MAX_MS) return ms
  throw new CliError('usage', '--for is a time such as 30m, 8h or 1d, at most 7d')
}

export const lock: Action = async (context) => {
  const wasUnlocked = await endAgent(context.env)
  context.output.done(wasUnlocked ? 'Locked.' : 'It was locked already.', {
    locked: true,
    was_unlocked: wasUnlocked,
  })
  return undefined
}
