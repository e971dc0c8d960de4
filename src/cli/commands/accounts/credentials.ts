/** What the password of an account is asked for: `password change`, `recovery new` and `account delete`. */

import {
  changeOwnPassword,
  removeAccount,
  renewRecoveryKey,
} from '../../../client/actions/credentials.ts'
import { ApiError } from '../../../client/http/api.ts'
import { forgetAccount } from '../../accounts/registry.ts'
import type { deleteAccountOptions, passwordOptions } from '../../catalogue/options.ts'
import type { Action } from '../../command.ts'
import { forgetNames } from '../../completion/names.ts'
import type { Context } from '../../context.ts'
import { CliError } from '../../terminal/cli_error.ts'
import { confirmed } from '../../terminal/confirmed.ts'
import { readLinesFromStdin } from '../../terminal/prompts.ts'
import { strong } from '../../terminal/strong.ts'
import { provingPassword, readNewPassword, showRecoveryKey, withPassword } from './passwords.ts'

export const changePassword: Action<typeof passwordOptions> = async (context, _, options) => {
  const session = await context.session()
  if (options.passwordStdin) {
    const { current, replacement } = await readBoth(context, session.email)
    await provingPassword(changeOwnPassword(session, current, replacement))
  } else {
    let replacement: string | undefined
    const replace = async (current: string) => {
      replacement ??= await readNewPassword(context, options, session.email, 'New password')
      return changeOwnPassword(session, current, replacement)
    }
    await withPassword(context, options, replace, 'Present password')
  }
  context.output.done(
    `The password of ${session.email} is changed; all other sessions have ended. The recovery key and passkeys stay as they are.`,
    { changed: 'password', email: session.email },
  )
  return undefined
}

/** The first line is the present password, and the second the new one. */
async function readBoth({ host }: Context, email: string) {
  const [current = '', replacement = ''] = await readLinesFromStdin(host)
  return { current, replacement: await strong(replacement, 'password', [email]) }
}

export const newRecoveryKey: Action<typeof passwordOptions> = async (context, _, options) => {
  const session = await context.session()
  const recoveryKey = await withPassword(context, options, (password) =>
    renewRecoveryKey(session, password),
  )
  context.output.done('The earlier recovery key is worth nothing any more.', {
    recovery_key: recoveryKey,
  })
  showRecoveryKey(context, recoveryKey)
  return undefined
}

/** Asks before it asks for the password; nothing of the account is left on this machine. */
export const deleteOwnAccount: Action<typeof deleteAccountOptions> = async (
  context,
  _,
  options,
) => {
  const session = await context.session()
  const { email, server, choice, store } = session
  await confirmed(
    context.host,
    options,
    `Delete the account ${email} at ${server}, with its personal workspace and all secrets in it? Nobody can bring them back.`,
  )
  await withPassword(context, options, (password) => removeAccount(session, password)).catch(
    (error: unknown) => {
      throw stillMember(error)
    },
  )
  await store.clear()
  forgetAccount(context.env, choice.account)
  forgetNames(context.env)
  context.output.done(`The account ${email} at ${server} is deleted.`, { deleted: email, server })
  return undefined
}

/** Leaving a signed workspace takes a signature of its own: the server names those. */
function stillMember(error: unknown): unknown {
  if (!(error instanceof ApiError) || error.code !== 'conflict') return error
  const names = error.fields.map(({ message }) => message)
  if (names.length === 0) return error
  return new CliError(
    'still_member',
    `you are a member of signed workspaces: ${names.join(', ')}`,
    'leave each with your own address: cloakroom workspace remove <email>, or decline or delete it',
  )
}
