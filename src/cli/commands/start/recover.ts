import { RecoveryInDoubt, recoverByKey } from '../../../client/account/recovery.ts'
import { enter, placeFor, reachServer, showEntered } from '../../accounts/entrance.ts'
import { readNewPassword, showRecoveryKey } from '../../accounts/passwords.ts'
import { command } from '../../command.ts'
import type { Context } from '../../context.ts'
import { entranceOptions } from '../../options.ts'
import { askSecret } from '../../terminal/prompts.ts'

/** Sets a new password with the recovery key; the key is used up and replaced. */
export default command({
  usage: 'recover <email>',
  examples: ['recover ada@example.com'],
  options: [...entranceOptions],
  action: async (context, [email], options) => {
    const server = await reachServer(context)
    const hint = 'set SERVICE_RECOVERY_KEY'
    const given =
      context.env.SERVICE_RECOVERY_KEY ?? (await askSecret(context.host, 'Recovery key', { hint }))
    const password = await readNewPassword(context, options, email)
    const place = await placeFor(context, email, options)
    const next = await recoverByKey(server, email, given, password, context.host.argon2id).catch(
      (error: unknown) => {
        if (error instanceof RecoveryInDoubt) keepRecoveryKey(context, email, error.recoveryKey)
        throw error
      },
    )
    // The old key is used up, so the new one is shown even if later steps fail.
    showRecoveryKey(context, next)
    const entered = await enter(context, place, password).catch((error: unknown) => {
      if (context.output.isJson) context.output.record({ email, recovery_key: next })
      context.output.warn(`Password changed. Sign in with: cloakroom login ${email}`)
      throw error
    })
    showEntered(context, entered, next)
    context.output.say(
      'Password changed. All other sessions have ended, and passkeys were removed.',
    )
  },
})

/** For a server that did not respond: if it stored the new password, only this key recovers the account. */
function keepRecoveryKey(context: Context, email: string, recoveryKey: string): void {
  const { output } = context
  if (output.isJson) output.record({ email, recovery_key: recoveryKey })
  output.warn(
    'The server did not respond. Keep both recovery keys, and sign in to find out which one is valid.',
  )
  showRecoveryKey(context, recoveryKey)
}
