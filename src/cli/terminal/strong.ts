/** Passwords and passphrases that protect keys. */
import { weaknessOf } from '../../client/account/password_strength.ts'
import { CliError } from './cli_error.ts'

/** Why it is easily guessed, with advice, as a sentence; `null` for a strong one. */
export async function weaknessIn(
  chosen: string,
  what: 'password' | 'passphrase',
  known: readonly string[] = [],
): Promise<string | null> {
  const weakness = await weaknessOf(chosen, known)
  if (weakness === null) return null
  return `This ${what} is too weak: ${weakness.why} Advice: ${weakness.advice || 'use more words.'}`
}

/** @throws CliError, with advice, for a weak one */
export async function strong(
  chosen: string,
  what: 'password' | 'passphrase',
  known: readonly string[] = [],
): Promise<string> {
  const weakness = await weaknessOf(chosen, known)
  if (weakness === null) return chosen
  throw new CliError('usage', `this ${what} is too weak: ${weakness.why}`, weakness.advice)
}
