/** What a person chooses to protect their keys with. */
import { weaknessOf } from '../../client/account/password_strength.ts'
import { CliError } from './cli_error.ts'

/** @throws CliError, with advice, for what is easily guessed */
export async function strong(
  chosen: string,
  what: 'password' | 'passphrase',
  known: readonly string[] = [],
): Promise<string> {
  const weakness = await weaknessOf(chosen, known)
  if (weakness === null) return chosen
  throw new CliError('usage', `this ${what} is too weak: ${weakness.why}`, weakness.advice)
}
