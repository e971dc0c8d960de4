/**
 * Public keys of other people, remembered when first seen. The server names the keys that a workspace key
 * is sealed to; a changed one may belong to an attacker in between.
 */
import { fingerprint } from '../../client/keys.ts'
import { fromBase64 } from '../../platform/crypto/encoding.ts'
import type { Context } from '../context.ts'
import type { Session } from '../session/session.ts'
import { CliError } from '../terminal/cli_error.ts'

export type KeyOfPerson = { email: string; publicKey: string }

/**
 * Shows new fingerprints and remembers them.
 *
 * @throws CliError for a key that differs from the known one, unless `acceptChanged`
 */
export async function checkKnownKeys(
  context: Context,
  session: Session,
  keys: readonly KeyOfPerson[],
  acceptChanged: boolean,
): Promise<void> {
  const { knownKeys } = session.stored
  for (const { email, publicKey } of keys) {
    const known = knownKeys[email]
    if (known === publicKey) continue
    context.output.warn(`${email}  ${fingerprint(fromBase64(publicKey) ?? new Uint8Array())}`)
    if (known !== undefined && !acceptChanged) {
      throw new CliError(
        'changed_key',
        `the public key of ${email} is not the one that was seen before`,
        'ask them for the fingerprint that cloakroom whoami shows, then use --accept-changed-keys',
      )
    }
  }
  const changed = keys.some(({ email, publicKey }) => knownKeys[email] !== publicKey)
  for (const { email, publicKey } of keys) knownKeys[email] = publicKey
  if (changed) await session.store.write(session.stored)
}
