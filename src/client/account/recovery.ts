/** The recovery key: a second way to the private key, shown once, used once. */
import { beginRecovery, recover } from '../../features/accounts/contract.ts'
import { ApiError } from '../http/answer.ts'
import { openApi } from '../http/api.ts'
import { type AccountKeys, deriveFromPassword, unwrapKeys, wrapKeys } from './account_keys.ts'
import type { Argon2id } from './argon2.ts'
import { generateRecoveryKey, recoveryVerifier } from './keys.ts'

const KEY_BYTES = 32

/** The stored fields of a recovery key. */
export async function recoveryOf(key: Uint8Array, keys: AccountKeys) {
  return {
    verifier: recoveryVerifier(key),
    encrypted_private_key: await wrapKeys('recovery', key, keys),
  }
}

/** Hex in groups of eight, for paper. */
export function writeRecoveryKey(key: Uint8Array): string {
  return key.toHex().replace(/.{8}(?=.)/g, '$&-')
}

/** The typed text is not a recovery key. */
export class MalformedRecoveryKey extends Error {}
/** The copy that the server has opens with another key, or to other keys than it names. */
export class UnreadableCopy extends Error {}

/** No account on this server has this address and recovery key. */
export class WrongRecoveryKey extends ApiError {
  constructor({ status, docs }: ApiError) {
    const message = 'The email address or recovery key is wrong.'
    super(status, { error_code: 'invalid_credentials', message, docs: docs ?? undefined })
  }
}

function recoveryRefusal(error: unknown): unknown {
  const isWrong = error instanceof ApiError && error.code === 'invalid_credentials'
  return isWrong ? new WrongRecoveryKey(error) : error
}

/** @throws MalformedRecoveryKey */
function readRecoveryKey(text: string): Uint8Array {
  const digits = text.toLowerCase().replace(/[^0-9a-f]/g, '')
  if (digits.length !== KEY_BYTES * 2) {
    throw new MalformedRecoveryKey(
      `the recovery key has ${KEY_BYTES * 2} hex digits; yours has ${digits.length}`,
    )
  }
  return Uint8Array.fromHex(digits)
}

/** The answer to the last request was lost: the server may have the new password and this next recovery key, or not. */
export class RecoveryInDoubt extends Error {
  readonly recoveryKey: string

  constructor(recoveryKey: string, cause: unknown) {
    super('the server did not respond: it may have stored the new password and recovery key', {
      cause,
    })
    this.name = 'RecoveryInDoubt'
    this.recoveryKey = recoveryKey
  }
}

/**
 * Sets a new password for an account; returns the next recovery key as text.
 *
 * @throws WrongRecoveryKey, ApiError, MalformedRecoveryKey, UnreadableCopy, RecoveryInDoubt
 */
export async function recoverByKey(
  origin: string,
  email: string,
  recoveryKey: string,
  newPassword: string,
  argon2id?: Argon2id,
): Promise<string> {
  const api = openApi(origin)
  const key = readRecoveryKey(recoveryKey)
  const recovery_verifier = recoveryVerifier(key)
  const claim = { email, recovery_verifier }
  const copy = await api.call(beginRecovery, { body: claim }).catch((error: unknown) => {
    throw recoveryRefusal(error)
  })
  const keys = await unwrapKeys('recovery', key, copy.encrypted_private_key, copy)
  if (!keys)
    throw new UnreadableCopy(
      'the private key on the server cannot be decrypted with this recovery key',
    )
  const next = generateRecoveryKey()
  const { password: new_password, ...replacement } = await deriveFromPassword(
    newPassword,
    keys,
    argon2id,
  )
  const recovery = await recoveryOf(next, keys)
  const body = { email, recovery_verifier, new_password, ...replacement, recovery }
  await api.call(recover, { body }).catch((error: unknown) => {
    if (error instanceof ApiError && error.status < 500) throw error
    throw new RecoveryInDoubt(writeRecoveryKey(next), error)
  })
  return writeRecoveryKey(next)
}
