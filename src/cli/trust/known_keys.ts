/**
 * Keys of other people, remembered when first seen. The server names the keys that a workspace key is sealed to;
 * changed ones may belong to an attacker in between.
 */
import { identityFingerprint, Refusal, type ShownKeys } from '../../sigchain/index.ts'
import type { Context } from '../context.ts'
import type { Session } from '../session/session.ts'
import { CliError } from '../terminal/cli_error.ts'

export type KeysOfPerson = ShownKeys & { email: string }

/**
 * Shows new fingerprints and remembers them.
 *
 * @throws CliError for keys that differ from the known ones, unless `acceptChanged`, and for unusable ones
 */
export async function checkKnownKeys(
  context: Context,
  session: Session,
  people: readonly KeysOfPerson[],
  acceptChanged: boolean,
): Promise<void> {
  const { knownKeys } = session.stored
  const unknown = people.filter((person) => knownKeys[person.email] !== textOf(person))
  for (const person of unknown) {
    const { email } = person
    context.output.warn(
      `${email}  ${await explainRefusedKey(email, () => identityFingerprint(person))}`,
    )
    if (knownKeys[email] !== undefined && !acceptChanged) {
      throw new CliError(
        'changed_key',
        `the public key of ${email} has changed`,
        'ask them for the fingerprint that cloakroom whoami shows, then use --accept-changed-keys',
      )
    }
  }
  for (const person of unknown) knownKeys[person.email] = textOf(person)
  if (unknown.length > 0) await session.store.write(session.stored)
}

/** @throws CliError `unproven_key` for keys that are refused */
export async function explainRefusedKey<T>(email: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    throw new CliError(
      'unproven_key',
      `the server shows wrong keys of ${email}: ${error.message}`,
      'nothing was sealed to them; contact the server operator',
    )
  }
}

function textOf({ signing_key, public_key }: ShownKeys): string {
  return signing_key === null ? public_key : `${signing_key} ${public_key}`
}
