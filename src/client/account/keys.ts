/**
 * Account keys (protocol 3.1), which exist on the client only. The password becomes a master key by Argon2id; the
 * server gets a value derived from it that cannot unlock the private key. A server that requests a weaker derivation is
 * refused, because it could then guess the password.
 */
import { concat, fromBase64, lp, toBase64, toBase64Url, utf8 } from '../../core/crypto/encoding.ts'
import {
  hkdf,
  KEY_BYTES,
  NONCE_BYTES,
  openGcm,
  sealGcm,
  TAG_BYTES,
  x25519PublicKey,
} from '../../core/crypto/primitives.ts'
import { generateRandomBytes } from '../../core/crypto/random.ts'
import { type Argon2id, argon2id } from './argon2.ts'

/** `kdf` as it travels on the wire; `memory_kib` is in KiB. */
export type Kdf = {
  algorithm: string
  memory_kib: number
  iterations: number
  parallelism: number
}

/** The parameters of protocol 3.1; they are also the least that a client accepts. */
export const KDF_DEFAULT = {
  algorithm: 'argon2id',
  memory_kib: 65_536,
  iterations: 3,
  parallelism: 4,
} as const satisfies Kdf

// A hostile server could otherwise make a client run out of memory or compute for hours.
const KDF_MOST = { memory_kib: 1_048_576, iterations: 16, parallelism: 16 }
const KDF_COSTS = ['memory_kib', 'iterations', 'parallelism'] as const

const VERSION = 1
const SALT_BYTES = 16
const WRAPPED_BYTES = 1 + NONCE_BYTES + KEY_BYTES + TAG_BYTES
const NO_SALT = new Uint8Array(0)
const PRIVATE_KEY_LABEL = 'cloakroom/v1/private-key'
const RECOVERY_LABEL = 'cloakroom/v1/recovery-private-key'

/**
 * MK = Argon2id (RFC 9106) of the password in NFKC, 32 bytes. Throws an Error when the salt is not
 * 16 bytes or when the parameters are weaker than `KDF_DEFAULT` or absurdly expensive.
 */
export async function deriveMasterKey(
  password: string,
  salt: Uint8Array,
  kdf: Kdf,
  derive: Argon2id = argon2id,
): Promise<Uint8Array> {
  requireAcceptableKdf(kdf)
  if (salt.length !== SALT_BYTES) throw new Error('The key salt must be 16 bytes.')
  return derive(utf8(password.normalize('NFKC')), salt, kdf)
}

function requireAcceptableKdf(kdf: Kdf): void {
  if (kdf.algorithm !== KDF_DEFAULT.algorithm) {
    throw new Error('The server requested a key derivation other than argon2id.')
  }
  for (const cost of KDF_COSTS) {
    const value = kdf[cost]
    if (!Number.isInteger(value) || value < KDF_DEFAULT[cost]) {
      throw new Error(`The server requested a key derivation that is too weak (${cost}).`)
    }
    if (value > KDF_MOST[cost]) {
      throw new Error(`The server requested an excessive key derivation cost (${cost}).`)
    }
  }
}

/** The `password` that a client sends: URL-safe base64 of 32 bytes. */
export function authKey(masterKey: Uint8Array): string {
  return toBase64Url(hkdf(masterKey, NO_SALT, 'cloakroom/v1/auth'))
}

/** The key that unlocks the private key. It never leaves the client. */
export function userKey(masterKey: Uint8Array): Uint8Array {
  return hkdf(masterKey, NO_SALT, 'cloakroom/v1/user-key')
}

/** `encrypted_private_key` under the user key: b64(`0x01 || nonce12 || ciphertext || tag`). */
export function wrapPrivateKey(
  key: Uint8Array,
  privateKey: Uint8Array,
  publicKey: Uint8Array,
): string {
  return wrap(key, PRIVATE_KEY_LABEL, privateKey, publicKey)
}

/** The private key of `publicKey`, or `null` when it does not open or belongs to another. */
export function unwrapPrivateKey(
  key: Uint8Array,
  encryptedPrivateKey: string,
  publicKey: Uint8Array,
): Uint8Array | null {
  return unwrap(key, PRIVATE_KEY_LABEL, encryptedPrivateKey, publicKey)
}

/** RK: 32 random bytes, shown to the user once and used once. */
export function generateRecoveryKey(): Uint8Array {
  return generateRandomBytes(KEY_BYTES)
}

/** The verifier of a recovery key, stored like a password: URL-safe base64. */
export function recoveryVerifier(recoveryKey: Uint8Array): string {
  return toBase64Url(hkdf(recoveryKey, NO_SALT, 'cloakroom/v1/recovery-auth'))
}

/** The copy of the private key that the recovery key opens, in the form of `wrapPrivateKey`. */
export function wrapForRecovery(
  recoveryKey: Uint8Array,
  privateKey: Uint8Array,
  publicKey: Uint8Array,
): string {
  return wrap(recoveryWrappingKey(recoveryKey), RECOVERY_LABEL, privateKey, publicKey)
}

/** The private key of `publicKey`, or `null` when it does not open or belongs to another. */
export function unwrapForRecovery(
  recoveryKey: Uint8Array,
  encryptedPrivateKey: string,
  publicKey: Uint8Array,
): Uint8Array | null {
  const key = recoveryWrappingKey(recoveryKey)
  return unwrap(key, RECOVERY_LABEL, encryptedPrivateKey, publicKey)
}

/** The key that seals the copies for recovery. */
export function recoveryWrappingKey(recoveryKey: Uint8Array): Uint8Array {
  return hkdf(recoveryKey, NO_SALT, 'cloakroom/v1/recovery-key')
}

function wrap(
  key: Uint8Array,
  label: string,
  privateKey: Uint8Array,
  publicKey: Uint8Array,
): string {
  if (privateKey.length !== KEY_BYTES) throw new RangeError('a private key has 32 bytes')
  const nonce = generateRandomBytes(NONCE_BYTES)
  const sealed = sealGcm(key, nonce, concat(lp(label), lp(publicKey)), privateKey)
  return toBase64(concat(Uint8Array.of(VERSION), nonce, sealed))
}

function unwrap(
  key: Uint8Array,
  label: string,
  wrapped: string,
  publicKey: Uint8Array,
): Uint8Array | null {
  const bytes = fromBase64(wrapped)
  if (bytes?.length !== WRAPPED_BYTES || bytes[0] !== VERSION) return null
  const nonce = bytes.subarray(1, 1 + NONCE_BYTES)
  const sealed = bytes.subarray(1 + NONCE_BYTES)
  const privateKey = openGcm(key, nonce, concat(lp(label), lp(publicKey)), sealed)
  if (privateKey === null) return null
  // The server could have named another public key, to which others would then seal.
  return x25519PublicKey(privateKey).toHex() === publicKey.toHex() ? privateKey : null
}
