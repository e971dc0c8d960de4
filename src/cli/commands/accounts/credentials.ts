/** What the password of an account is asked for: `password change`, `recovery new` and `account delete`. */

import { endAccount, replacePassword, replaceRecoveryKey } from '../../../client/credentials.ts'
import { ApiError } from '../../../client/http/api.ts'
import { forgetAccount } from '../../accounts/registry.ts'
import type { deleteAccountOptions, passwordOptions } from '../../catalogue/options.ts'
import type { Action, OptionValues } from '../../command.ts'
import { forgetNames } from '../../completion/names.ts'
import type { Context } from '../../context.ts'
import { CliError } from '../../terminal/cli_error.ts'
import { confirmed } from '../../terminal/confirmed.ts'
import { askSecret, readLinesFromStdin } from '../../terminal/prompts.ts'
import { strong, weaknessIn } from '../../terminal/strong.ts'
import { readPassword, showRecoveryKey } from './passwords.ts'

export const changePassword: Action<typeof passwordOptions> = async (context, _, options) => {
  const session = await context.session()
  const { current, replacement } = await readBoth(context, options, session.email)
  await withPassword(replacePassword(session, current, replacement))
  context.output.done(
    `The password of ${session.email} is changed; all other sessions have ended. The recovery key and passkeys stay as they are.`,
    { changed: 'password', email: session.email },
  )
  return undefined
}

/** Of standard input the first line is the present password, and the second the new one. */
async function readBoth(
  { host }: Context,
  { passwordStdin }: OptionValues<typeof passwordOptions>,
  email: string,
) {
  if (passwordStdin) {
    const [current = '', replacement = ''] = await readLinesFromStdin(host)
    return { current, replacement: await strong(replacement, 'password', [email]) }
  }
  const hint = 'give both on standard input, a line each, with --password-stdin'
  const current = await askSecret(host, 'Present password', { hint })
  const faultOf = (answer: string) => weaknessIn(answer, 'password', [email])
  const replacement = await askSecret(host, 'New password', { isNew: true, hint, faultOf })
  return { current, replacement }
}

export const newRecoveryKey: Action<typeof passwordOptions> = async (context, _, options) => {
  const session = await context.session()
  const password = await readPassword(context, options)
  const recoveryKey = await withPassword(replaceRecoveryKey(session, password))
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
  const password = await readPassword(context, options)
  await withPassword(endAccount(session, password)).catch((error: unknown) => {
    throw stillMember(error)
  })
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

/** The server names the field that it refused; here that is the password, and nothing else was typed. */
export async function withPassword<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    const isWrong =
      error instanceof ApiError && error.fields.some(({ path }) => path === 'current_password')
    if (isWrong)
      throw new CliError('wrong_password', 'the password is wrong', 'nothing was changed')
    throw error
  }
}
