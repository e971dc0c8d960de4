/**
 * The keys of an account, and the two forms in which the server stores them (protocol 3.1): the seed that they come
 * from, or the private key alone in an account that has no signing key. The account's public keys determine the form,
 * not the wrapped copy, and both forms decrypt only for these keys.
 */
import { type Bytes, fromBase64, toBase64 } from '../../core/crypto/encoding.ts'
import { generateRandomBytes } from '../../core/crypto/random.ts'
import {
  type Identity,
  identityFingerprint,
  identityOf,
  proveKeys,
  type ShownKeys,
} from '../../sigchain/index.ts'
import { type SeedCopy, unwrapSeed, wrapSeed } from './account_seed.ts'
import type { Argon2id } from './argon2.ts'
import {
  authKey,
  deriveMasterKey,
  KDF_DEFAULT,
  recoveryWrappingKey,
  unwrapForRecovery,
  unwrapPrivateKey,
  userKey,
  wrapForRecovery,
  wrapPrivateKey,
} from './keys.ts'

export type AccountKeys = {
  privateKey: Uint8Array
  publicKey: Uint8Array
  /** Null in an account that was made without one. */
  seed: Bytes | null
}

const SALT_BYTES = 16
const SEED_BYTES = 32

const copies = {
  account: { wrap: wrapPrivateKey, unwrap: unwrapPrivateKey, seedKey: (key: Uint8Array) => key },
  recovery: {
    wrap: wrapForRecovery,
    unwrap: unwrapForRecovery,
    seedKey: recoveryWrappingKey,
  },
}

/** All data for a registration, and the keys that stay here. Takes about 0.3 s. */
export async function createAccountKeys(email: string, password: string, argon2id?: Argon2id) {
  const seed = generateRandomBytes(SEED_BYTES)
  const identity = await identityOf(seed)
  const { privateKey, public_key, signing_key } = identity
  const keys: AccountKeys = { privateKey, publicKey: decode(public_key), seed }
  const key_proof = await proveKeys(identity, email)
  const wrapped = await deriveFromPassword(password, keys, argon2id)
  return { keys, public_key, signing_key, key_proof, ...wrapped }
}

/** The fields derived from a password; `password` is the authKey, the only part that the server sees. */
export async function deriveFromPassword(password: string, keys: AccountKeys, argon2id?: Argon2id) {
  const salt = generateRandomBytes(SALT_BYTES)
  const masterKey = await deriveMasterKey(password, salt, KDF_DEFAULT, argon2id)
  return {
    password: authKey(masterKey),
    key_salt: toBase64(salt),
    kdf: { ...KDF_DEFAULT },
    encrypted_private_key: await wrapKeys('account', userKey(masterKey), keys),
  }
}

/** Under the user key, or the recovery key. @throws Error for a seed that does not give the public key */
export async function wrapKeys(
  copy: SeedCopy,
  key: Uint8Array,
  { seed, privateKey, publicKey }: AccountKeys,
): Promise<string> {
  const { wrap, seedKey } = copies[copy]
  if (seed === null) return wrap(key, privateKey, publicKey)
  return wrapSeed(seedKey(key), copy, seed, await identityBehind(seed, publicKey))
}

/** Rejects a copy of another seed, which would be useless. @throws Error */
export async function identityBehind(seed: Bytes, publicKey: Uint8Array): Promise<Identity> {
  const identity = await identityOf(seed)
  if (identity.public_key === toBase64(publicKey)) return identity
  throw new Error('the seed belongs to another account')
}

/** Null if the copy cannot be decrypted, or its keys differ from those on the server. */
export async function unwrapKeys(
  copy: SeedCopy,
  key: Uint8Array,
  wrapped: string,
  { signing_key, public_key }: ShownKeys,
): Promise<AccountKeys | null> {
  const { unwrap, seedKey } = copies[copy]
  const publicKey = decode(public_key)
  if (signing_key !== null) {
    const opened = await unwrapSeed(seedKey(key), copy, wrapped, { signing_key, public_key })
    return opened && { privateKey: opened.privateKey, publicKey, seed: opened.seed }
  }
  const privateKey = unwrap(key, wrapped, publicKey)
  return privateKey && { privateKey, publicKey, seed: null }
}

/** The fingerprint of these keys, for two people to compare. */
export async function ownFingerprint({ seed, publicKey }: AccountKeys): Promise<string> {
  const shown = { signing_key: null, public_key: toBase64(publicKey) }
  return identityFingerprint(seed === null ? shown : await identityOf(seed))
}

function decode(text: string): Uint8Array {
  return fromBase64(text) ?? new Uint8Array(0)
}
