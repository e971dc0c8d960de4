/** What unlocks an account: `password change` and `recovery new`. */
import { ApiError } from '../../../client/api.ts'
import { replacePassword, replaceRecoveryKey } from '../../../client/credentials.ts'
import type { passwordOptions } from '../../catalogue/options.ts'
import type { Action, OptionValues } from '../../command.ts'
import { CliError } from '../../terminal/cli_error.ts'
import { askSecret, readLinesFromStdin } from '../../terminal/prompts.ts'
import { longEnough, readPassword, showRecoveryKey } from './passwords.ts'

export const changePassword: Action<typeof passwordOptions> = async (context, _, options) => {
  const session = await context.session()
  const { current, replacement } = await readBoth(options)
  await withPassword(replacePassword(session, current, replacement))
  context.output.done(
    `The password of ${session.email} is changed; all other sessions have ended. The recovery key stays as it is.`,
    { changed: 'password', email: session.email },
  )
  return undefined
}

/** Of standard input the first line is the present password, and the second the new one. */
async function readBoth({ passwordStdin }: OptionValues<typeof passwordOptions>) {
  if (passwordStdin) {
    const [current = '', replacement = ''] = await readLinesFromStdin()
    return { current, replacement: longEnough(replacement) }
  }
  const hint = 'give both on standard input, a line each, with --password-stdin'
  const current = await askSecret('Present password', { hint })
  const replacement = longEnough(await askSecret('New password', { isNew: true, hint }))
  return { current, replacement }
}

export const newRecoveryKey: Action<typeof passwordOptions> = async (context, _, options) => {
  const session = await context.session()
  const password = await readPassword(options)
  const recoveryKey = await withPassword(replaceRecoveryKey(session, password))
  context.output.done('The earlier recovery key is worth nothing any more.', {
    recovery_key: recoveryKey,
  })
  showRecoveryKey(context, recoveryKey)
  return undefined
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
