/** Passwords and recovery keys as commands ask for them and show them. */
import type { passwordOptions } from '../../catalogue/options.ts'
import type { OptionValues } from '../../command.ts'
import type { Context } from '../../context.ts'
import { askSecret, readPasswordFromStdin } from '../../terminal/prompts.ts'
import { strong, weaknessIn } from '../../terminal/strong.ts'

const HINT = 'give the password on standard input with --password-stdin'

type PasswordOptions = Pick<OptionValues<typeof passwordOptions>, 'passwordStdin'>

export async function readPassword(
  { host }: Context,
  { passwordStdin }: PasswordOptions,
): Promise<string> {
  return passwordStdin ? readPasswordFromStdin(host) : askSecret(host, 'Password', { hint: HINT })
}

/** @throws CliError for one that is easily guessed */
export async function readNewPassword(
  { host }: Context,
  { passwordStdin }: PasswordOptions,
  email: string,
): Promise<string> {
  if (passwordStdin) return strong(await readPasswordFromStdin(host), 'password', [email])
  const faultOf = (answer: string) => weaknessIn(answer, 'password', [email])
  return askSecret(host, 'Choose a password', { isNew: true, hint: HINT, faultOf })
}

/** Also with --quiet: it is shown this once. */
export function showRecoveryKey(context: Context, recoveryKey: string): void {
  if (context.output.isJson) return
  context.output.warn(
    'Recovery key, shown this once. Without it a forgotten password loses everything:',
  )
  context.output.warn(recoveryKey)
}
