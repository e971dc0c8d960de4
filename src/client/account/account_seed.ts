/**
 * The account seed (protocol 3.1), from which both keys of an account follow. The server stores it sealed,
 * once under the password, once under the recovery key and once for each passkey, and names the public keys: it could
 * name others, to which people would then seal, so a seed is only taken with the keys that it gives.
 */
import {
  type Bytes,
  concat,
  fromBase64,
  lp,
  toBase64,
  utf8,
  uuidToBytes,
} from '../../core/crypto/encoding.ts'
import {
  hkdf,
  KEY_BYTES,
  NONCE_BYTES,
  openGcm,
  sealGcm,
  TAG_BYTES,
} from '../../core/crypto/primitives.ts'
import { generateRandomBytes } from '../../core/crypto/random.ts'
import { type Identity, identityOf, type PublicIdentity } from '../../sigchain/index.ts'

const VERSION = 2
const WRAPPED_BYTES = 1 + NONCE_BYTES + KEY_BYTES + TAG_BYTES

/** The key of the copy: the password, the recovery key, or a passkey of the person. */
const labels = {
  account: 'cloakroom/v2/account-seed',
  recovery: 'cloakroom/v2/recovery-seed',
} as const
export type SeedCopy = keyof typeof labels
export type PasskeyCopy = { userId: string; credentialId: Bytes }
const PASSKEY_LABEL = 'cloakroom/v2/passkey-seed'

/** b64(`0x02 || nonce12 || ciphertext || tag`). Only test vectors give a nonce. */
export function wrapSeed(
  key: Uint8Array,
  copy: SeedCopy | PasskeyCopy,
  seed: Bytes,
  identity: PublicIdentity,
  nonce: Uint8Array = generateRandomBytes(NONCE_BYTES),
): string {
  if (seed.length !== KEY_BYTES) throw new RangeError('an account seed has 32 bytes')
  const sealed = sealGcm(key, nonce, additionalData(copy, identity), seed)
  return toBase64(concat(Uint8Array.of(VERSION), nonce, sealed))
}

/** The account of the seed; null if it cannot be decrypted, or its keys differ from those on the server. */
export async function unwrapSeed(
  key: Uint8Array,
  copy: SeedCopy | PasskeyCopy,
  wrapped: string,
  named: PublicIdentity,
): Promise<(Identity & { seed: Bytes }) | null> {
  const bytes = fromBase64(wrapped)
  if (bytes?.length !== WRAPPED_BYTES || bytes[0] !== VERSION) return null
  const nonce = bytes.subarray(1, 1 + NONCE_BYTES)
  const sealed = bytes.subarray(1 + NONCE_BYTES)
  const seed = openGcm(key, nonce, additionalData(copy, named), sealed)
  if (seed === null) return null
  const identity = await identityOf(seed)
  const isNamed =
    identity.signing_key === named.signing_key && identity.public_key === named.public_key
  return isNamed ? { ...identity, seed } : null
}

function additionalData(
  copy: SeedCopy | PasskeyCopy,
  { signing_key, public_key }: PublicIdentity,
): Bytes {
  const keys = [signing_key, public_key].map((key) => fromBase64(key) ?? new Uint8Array(0))
  if (typeof copy === 'string') return lp(labels[copy], ...keys)
  return lp(PASSKEY_LABEL, uuidToBytes(copy.userId), copy.credentialId, ...keys)
}

/*
 * A passkey unlocks too (protocol 3.1). An authenticator with the PRF extension gives, for an input that this client
 * chooses, 32 bytes that it gives for no other input and to no other site. They open a copy of the account's seed, never
 * leave the client and are stored nowhere.
 */

/** The PRF input: the same for all accounts, because the account is unknown before signing in. */
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

/** The seed and its account. Null if it cannot be decrypted, or its keys differ from those on the server. */
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
