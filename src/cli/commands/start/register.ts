import { signUp } from '../../../client/account/log_in.ts'
import { ApiError } from '../../../client/http/api.ts'
import { enter, placeFor, reachServer, showEntered } from '../../accounts/entrance.ts'
import { readNewPassword, showRecoveryKey } from '../../accounts/passwords.ts'
import { command } from '../../command.ts'
import type { Context } from '../../context.ts'
import { entranceOptions } from '../../options.ts'
import { toDefaultList } from '../../session/chosen.ts'
import { CliError } from '../../terminal/cli_error.ts'
import { openKnownChains, openKnownNames } from '../../trust/known.ts'

export default command({
  usage: 'register <email>',
  examples: [
    'register ada@example.com --server https://vault.example.com',
    'register ada@example.com --password-stdin < password.txt',
  ],
  options: [...entranceOptions],
  action: async (context, [email], options) => {
    const server = await reachServer(context)
    const password = await readNewPassword(context, options, email)
    const place = await placeFor(context, email, options)
    const code = context.env.SERVICE_OWNER_CODE
    const { argon2id } = context.host
    const { recoveryKey, workspaceId, known } = await signUp(
      server,
      email,
      password,
      true,
      code,
      argon2id,
    ).catch((error: unknown) => {
      throw error instanceof ApiError && error.code === 'already_exists'
        ? buildKnownAddressError(email)
        : error
    })
    const entered = await orShowRecoveryKey(context, { email, recoveryKey }, async () => {
      if (known) openKnownChains(context.env, server).remember(workspaceId, known)
      openKnownNames(context.env, server).accept(toDefaultList({ email }), '', [workspaceId])
      return enter(context, place, password)
    })
    showEntered(context, entered, recoveryKey)
    context.output.say(
      'Welcome. Your keys were generated on this machine; the server cannot read them.',
    )
    showRecoveryKey(context, recoveryKey)
  },
})

function buildKnownAddressError(email: string): CliError {
  return new CliError(
    'account_exists',
    `${email} already has an account on this server`,
    `sign in with: cloakroom login ${email}; if you forgot the password: cloakroom recover ${email}`,
  )
}

/** The server stores it but never returns it, so later failures must not lose it. */
async function orShowRecoveryKey<T>(
  { output }: Context,
  { email, recoveryKey }: { email: string; recoveryKey: string },
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const next = `cloakroom login ${email}`
    output.warn(
      `The server made the change. Keep this recovery key, then run: ${next}`,
      recoveryKey,
    )
    throw error
  }
}
