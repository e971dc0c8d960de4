/**
 * The two steps of a log-in: the client's key derivation parameters, and the session after a password proof. Neither
 * reveals whether an address has an account.
 */

import { Fault } from '../../core/fault.ts'
import { requireQuota } from '../../database/limits/quota.ts'
import type { Transaction } from '../../database/open.ts'
import type { InputOf } from '../../http/endpoint.ts'
import { listWorkspaces } from '../workspaces/index.ts'
import type { AccountServices } from './account_services.ts'
import type { login } from './contract.ts'
import { provePassword } from './credentials.ts'
import { findUserByEmail, lockUser, showUser, type User, updateCredentials } from './queries.ts'
import { type Opener, startSession } from './sessions.ts'
import { defaultKdf } from './shapes.ts'
import { openWrappedKey } from './wrapped_keys.ts'

/** A fake has the default parameters. Only an account with other parameters is distinguishable. */
export async function getDerivation({ db, fakeSalt }: AccountServices, email: string) {
  const fake = fakeSalt(email)
  const user = await findUserByEmail(db, email)
  return { key_salt: user?.keySalt ?? fake, kdf: user?.kdf ?? defaultKdf }
}

export type Visitor = { network: string; userAgent: string }

/** @throws Fault `invalid_credentials`, `rate_limited` */
export async function logIn(
  services: AccountServices,
  { email, password: secret }: InputOf<typeof login, 'body'>,
  { network, userAgent }: Visitor,
) {
  const { passwords } = services
  const proven = await provePassword(services, { email, network, secret })
  if (!proven) throw new Fault('invalid_credentials')
  const { user, proof } = proven
  const renewed = passwords.isOlder(user.passwordHash)
    ? { passwordHash: await passwords.hash(user.id, secret) }
    : null
  return openSession(services, { user, userAgent, passkeyId: null }, async (tx) => {
    // A password that was changed since it was checked must not open a session any more.
    const isValid = await lockUser(tx, user.id, proof)
    if (isValid && renewed) await updateCredentials(tx, user.id, proof, renewed)
    return isValid
  })
}

/**
 * The result of signing in, by any proof; `admits` checks in the session's transaction that the proof is still valid.
 *
 * @throws Fault `invalid_credentials`
 */
export async function openSession(
  { db, outer, pepper, quotas }: AccountServices,
  { user, ...opener }: { user: User } & Omit<Opener, 'userId'>,
  admits: (tx: Transaction) => Promise<boolean>,
) {
  const column = 'users.encrypted_private_key'
  const wrapped = await openWrappedKey(outer, column, user.id, user.encryptedPrivateKey)
  // Strangers decide how many invitations there are: those come by pages (workspaces.list).
  const workspaces = await listWorkspaces(db, outer, user.id, { status: 'active' })
  const tokens = await db.transaction(async (tx) => {
    if (!(await admits(tx))) throw new Fault('invalid_credentials')
    const started = await startSession({ tx, pepper }, { userId: user.id, ...opener })
    await requireQuota(tx, quotas, 'sessions', user.id)
    return started
  })
  return {
    ...tokens,
    key_salt: user.keySalt,
    kdf: user.kdf,
    encrypted_private_key: wrapped,
    user: showUser(user),
    workspaces,
  }
}
