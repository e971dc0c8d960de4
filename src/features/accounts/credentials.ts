/**
 * The proof of identity: the password, or the recovery key's verifier. A proof keeps the hash it was checked against,
 * because it is invalid once the hash changes. Runs outside of transactions, because hashing is slow on purpose.
 */
import type { AccountServices } from './account_services.ts'
import { type AccountProof, findUserByEmail, type User } from './queries.ts'
import { sealWrappedKey } from './wrapped_keys.ts'

export type ProvenCredential = { user: User; proof: AccountProof }

type Given = { email: string; network: string; secret: string }

/** @throws Fault `rate_limited`, `unavailable` */
export function provePassword(
  { db, passwords, throttle }: AccountServices,
  { email, network, secret }: Given,
): Promise<ProvenCredential | null> {
  return throttle.judge({ what: 'password', account: email, network }, async () => {
    const user = await findUserByEmail(db, email)
    const right = await passwords.matches(user?.id ?? null, secret, user?.passwordHash ?? null)
    return user && right ? { user, proof: { passwordHash: user.passwordHash } } : null
  })
}

/** An account without a recovery key is treated like no account. @throws Fault `rate_limited`, `unavailable` */
export function proveRecovery(
  { db, passwords, throttle }: AccountServices,
  { email, network, secret }: Given,
): Promise<(ProvenCredential & { copy: Uint8Array }) | null> {
  return throttle.judge({ what: 'recovery', account: email, network }, async () => {
    const user = await findUserByEmail(db, email)
    const { recoveryVerifierHash = null, recoveryPrivateKey: copy = null } = user ?? {}
    const right = await passwords.matches(user?.id ?? null, secret, recoveryVerifierHash)
    if (!user || !right || !copy || recoveryVerifierHash === null) return null
    return { user, proof: { recoveryVerifierHash }, copy }
  })
}

type Sealers = Pick<AccountServices, 'outer' | 'passwords'>

type Password = {
  password: string
  key_salt: string
  kdf: User['kdf']
  encrypted_private_key: string
}

/** The columns of a new password. */
export async function passwordValues(
  { outer, passwords }: Sealers,
  userId: string,
  { password, key_salt, kdf, encrypted_private_key: wrapped }: Password,
) {
  return {
    passwordHash: await passwords.hash(userId, password),
    keySalt: key_salt,
    kdf,
    encryptedPrivateKey: await sealWrappedKey(
      outer,
      'users.encrypted_private_key',
      userId,
      wrapped,
    ),
  }
}

/** The columns of a new recovery key. */
export async function recoveryValues(
  { outer, passwords }: Sealers,
  userId: string,
  { verifier, encrypted_private_key: wrapped }: { verifier: string; encrypted_private_key: string },
) {
  return {
    recoveryVerifierHash: await passwords.hash(userId, verifier),
    recoveryPrivateKey: await sealWrappedKey(outer, 'users.recovery_private_key', userId, wrapped),
  }
}
