/**
 * What a passkey unlocks (protocol 3.1). An authenticator with the PRF extension gives, for an input that this client
 * chooses, 32 bytes that it gives for no other input and to no other site. They open a copy of the account's seed,
 * never leave the client and are stored nowhere.
 */
import { type Bytes, utf8 } from '../../core/crypto/encoding.ts'
import { hkdf, KEY_BYTES } from '../../core/crypto/primitives.ts'
import type { PublicIdentity } from '../../sigchain/index.ts'
import { type PasskeyCopy, unwrapSeed, wrapSeed } from './account_seed.ts'

/** What an authenticator is asked with: the same for all, since a log-in does not know yet whose it will be. */
export const PRF_INPUT: Bytes = utf8('cloakroom/v2/passkey-prf')

/** `encrypted_seed` of the passkey. @throws RangeError for an output of another length than 32 bytes */
export function wrapForPasskey(
  output: Uint8Array,
  copy: PasskeyCopy,
  seed: Bytes,
  identity: PublicIdentity,
): string {
  return wrapSeed(seedKey(output), copy, seed, identity)
}

/** The seed, and who it makes one; null where it does not open, or gives other keys than the server names. */
export function unwrapByPasskey(
  output: Uint8Array,
  copy: PasskeyCopy,
  wrapped: string,
  named: PublicIdentity,
) {
  return unwrapSeed(seedKey(output), copy, wrapped, named)
}

function seedKey(output: Uint8Array): Uint8Array {
  if (output.length !== KEY_BYTES) throw new RangeError('a PRF output has 32 bytes')
  return hkdf(output, new Uint8Array(), 'cloakroom/v2/passkey-key')
}
