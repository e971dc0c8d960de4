/** Passwords and recovery keys as commands ask for them and show them. */
import type { passwordOptions } from '../../catalogue/options.ts'
import type { OptionValues } from '../../command.ts'
import type { Context } from '../../context.ts'
import { CliError } from '../../terminal/cli_error.ts'
import { askSecret, readPasswordFromStdin } from '../../terminal/prompts.ts'

const LEAST_PASSWORD = 8
const HINT = 'give the password on standard input with --password-stdin'

type PasswordOptions = Pick<OptionValues<typeof passwordOptions>, 'passwordStdin'>

export async function readPassword({ passwordStdin }: PasswordOptions): Promise<string> {
  return passwordStdin ? readPasswordFromStdin() : askSecret('Password', { hint: HINT })
}

/** @throws CliError for one that is too short */
export async function readNewPassword({ passwordStdin }: PasswordOptions): Promise<string> {
  return longEnough(
    passwordStdin
      ? await readPasswordFromStdin()
      : await askSecret('Choose a password', { isNew: true, hint: HINT }),
  )
}

/** @throws CliError */
export function longEnough(password: string): string {
  if (password.length >= LEAST_PASSWORD) return password
  throw new CliError('usage', `the password must have at least ${LEAST_PASSWORD} characters`)
}

/** Also with --quiet: it is shown this once. */
export function showRecoveryKey(context: Context, recoveryKey: string): void {
  if (context.output.isJson) return
  context.output.warn(
    'Recovery key, shown this once. Without it a forgotten password loses everything:',
  )
  context.output.warn(recoveryKey)
}
