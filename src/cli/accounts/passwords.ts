/** Passwords and recovery keys as commands ask for them and show them. */
import { ApiError } from '../../client/http/api.ts'
import type { Context } from '../context.ts'
import { CliError } from '../terminal/cli_error.ts'
import { explain } from '../terminal/explain.ts'
import { askSecret, readPasswordFromStdin } from '../terminal/prompts.ts'
import { strong, weaknessIn } from '../terminal/strong.ts'

const HINT = 'give the password on standard input with --password-stdin'

type PasswordOptions = { passwordStdin: boolean | undefined }

async function readPassword(
  { host }: Context,
  { passwordStdin }: PasswordOptions,
  label: string,
): Promise<string> {
  return passwordStdin ? readPasswordFromStdin(host) : askSecret(host, label, { hint: HINT })
}

/** Times that a person may type the present password: the server limits log-ins too. */
const ATTEMPTS = 3

/** By the code of the error. */
const WRONG: Readonly<Record<string, string>> = {
  wrong_password: 'The password is wrong.',
  invalid_credentials: 'The email address or the password is wrong.',
}

/**
 * Reads the present password and does the work with it. A person who mistypes it is asked again.
 *
 * @throws CliError `wrong_password`
 */
export async function withPassword<T>(
  context: Context,
  options: PasswordOptions,
  work: (password: string) => Promise<T>,
  label = 'Password',
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const password = await readPassword(context, options, label)
    try {
      return await explainWrongPassword(work(password))
    } catch (error) {
      const wrong = WRONG[explain(error).code]
      if (wrong === undefined || options.passwordStdin || attempt === ATTEMPTS) throw error
      context.output.warn(`${wrong} Try again.`)
    }
  }
}

/** The server names the field that it refused; here that is the password, and nothing else was typed. */
export async function explainWrongPassword<T>(work: Promise<T>): Promise<T> {
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

/** @throws CliError for one that is easily guessed */
export async function readNewPassword(
  { host }: Context,
  { passwordStdin }: PasswordOptions,
  email: string,
  label = 'Choose a password',
): Promise<string> {
  if (passwordStdin) return strong(await readPasswordFromStdin(host), 'password', [email])
  const faultOf = (answer: string) => weaknessIn(answer, 'password', [email])
  return askSecret(host, label, { isNew: true, hint: HINT, faultOf })
}

/** Also with --quiet: it is shown this once. */
export function showRecoveryKey(context: Context, recoveryKey: string): void {
  if (context.output.isJson) return
  context.output.warn(
    'Recovery key, shown only once. Without it, a forgotten password means losing all secrets:',
  )
  context.output.warn(recoveryKey)
}
