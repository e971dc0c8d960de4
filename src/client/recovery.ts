/** The recovery key: a second way to the private key, shown once, used once. */
import { randomBytes } from 'node:crypto'
import { beginRecovery, recover } from '../features/accounts/contract.ts'
import { fromBase64, toBase64 } from '../platform/crypto/encoding.ts'
import { openApi } from './api.ts'
import {
  authKey,
  deriveMasterKey,
  generateRecoveryKey,
  KDF_DEFAULT,
  recoveryVerifier,
  unwrapForRecovery,
  userKey,
  wrapForRecovery,
  wrapPrivateKey,
} from './keys.ts'

const KEY_BYTES = 32
const SALT_BYTES = 16

/** What the server stores of a recovery key. */
export function recoveryOf(key: Uint8Array, privateKey: Uint8Array, publicKey: Uint8Array) {
  return {
    verifier: recoveryVerifier(key),
    encrypted_private_key: wrapForRecovery(key, privateKey, publicKey),
  }
}

/** Hex in groups of eight, for paper. */
export function writeRecoveryKey(key: Uint8Array): string {
  return key.toHex().replace(/.{8}(?=.)/g, '$&-')
}

function readRecoveryKey(text: string): Uint8Array {
  const digits = text.toLowerCase().replace(/[^0-9a-f]/g, '')
  if (digits.length !== KEY_BYTES * 2) throw new Error('the recovery key has 64 hex digits')
  return Uint8Array.fromHex(digits)
}

/**
 * Sets a new password for an account; returns the next recovery key as text.
 *
 * @throws ApiError `invalid_credentials` for a wrong key, Error when the stored copy does not open
 */
export async function recoverAccount(
  origin: string,
  email: string,
  recoveryKey: string,
  newPassword: string,
): Promise<string> {
  const api = openApi(origin)
  const key = readRecoveryKey(recoveryKey)
  const recovery_verifier = recoveryVerifier(key)
  const copy = await api.call(beginRecovery, { body: { email, recovery_verifier } })
  const publicKey = fromBase64(copy.public_key)
  const privateKey = publicKey && unwrapForRecovery(key, copy.encrypted_private_key, publicKey)
  if (!privateKey) throw new Error('the private key on the server does not open with this key')
  const salt = randomBytes(SALT_BYTES)
  const masterKey = await deriveMasterKey(newPassword, salt, KDF_DEFAULT)
  const next = generateRecoveryKey()
  await api.call(recover, {
    body: {
      email,
      recovery_verifier,
      new_password: authKey(masterKey),
      key_salt: toBase64(salt),
      kdf: KDF_DEFAULT,
      encrypted_private_key: wrapPrivateKey(userKey(masterKey), privateKey, publicKey),
      recovery: recoveryOf(next, privateKey, publicKey),
    },
  })
  return writeRecoveryKey(next)
}
