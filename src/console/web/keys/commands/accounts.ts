/** Coming in, unlocking and locking. */
import { unwrapKeys } from '../../../../client/account/account_keys.ts'
import { authKey, deriveMasterKey, userKey } from '../../../../client/account/keys.ts'
import { weaknessOf } from '../../../../client/account/password_strength.ts'
import { recoverAccount } from '../../../../client/account/recovery.ts'
import { openApi } from '../../../../client/http/api.ts'
import { signUp } from '../../../../client/vault.ts'
import {
  consoleLogin,
  getMe,
  listSessions,
  logout,
  prelogin,
  revokeSession,
} from '../../../../features/accounts/contract.ts'
import { getInstance } from '../../../../features/instance/contract.ts'
import { fromBase64 } from '../../../../platform/crypto/encoding.ts'
import { failureOf, Refused } from '../failure.ts'
import type { Held } from '../held.ts'
import type { Progress } from '../messages.ts'
import { stayUnlocked, stillUnlocked } from '../staying.ts'
import { demandStrong } from '../strong.ts'

type Credentials = { email: string; password: string }
/** Hours to stay unlocked for, in this browser; without them it locks when nobody works. */
type Staying = { stayHours?: number }
type Report = (progress: Progress) => void

/** Who works here, asked of the server; keys that were to stay are there again. */
export async function state(held: Held, _: null) {
  if (held.state().kind === 'open') return held.state()
  try {
    const { id: userId, email } = await held.api.call(getMe, {})
    const person = { userId, email }
    const staying = await stillUnlocked(held.memory, userId)
    if (staying) held.open(person, staying.keys, staying.until)
    else held.lock(person)
  } catch (error) {
    if (failureOf(error).code !== 'invalid_token') throw error
    held.clear()
  }
  return held.state()
}

/** Whether the session is there still: where it is not, all screens hear of it. */
export async function check(held: Held, _: null) {
  await held.api.call(getMe, {})
}

/** What of this installation people meet before they have an account. */
export async function instance(_: Held, __: null) {
  return openApi(location.origin).call(getInstance, {})
}

/** Null for a password that is good enough. */
export async function weakness(_: Held, { email, password }: Credentials) {
  return weaknessOf(password, [email])
}

/**
 * Makes the account with its workspace; returns the recovery key, which is shown once.
 *
 * @throws ApiError `registration_closed`, `already_exists`, Refused `weak_password`
 */
export async function register(
  held: Held,
  { email, password, ownerCode }: Credentials & { ownerCode?: string },
  progress: Report,
) {
  await demandStrong(password, email)
  progress({ step: 'keys' })
  const { recoveryKey, workspaceId, known } = await signUp(
    location.origin,
    email,
    password,
    true,
    ownerCode,
  )
  if (known) {
    held.memory.chains.put(workspaceId, (before) => before ?? { ...known, manifests: {} })
  }
  return { recoveryKey, workspaceId }
}

/**
 * A new password by the recovery key; returns the next one, which is shown once.
 *
 * @throws ApiError `invalid_credentials`, MalformedRecoveryKey, UnreadableCopy, Refused `weak_password`
 */
export async function recover(
  _: Held,
  { email, password, recoveryKey }: Credentials & { recoveryKey: string },
) {
  await demandStrong(password, email)
  return { recoveryKey: await recoverAccount(location.origin, email, recoveryKey, password) }
}

/** @throws ApiError `invalid_credentials`, Refused `unreadable_keys` */
export async function logIn(
  held: Held,
  { email, password, stayHours }: Credentials & Staying,
  progress: Report,
) {
  progress({ step: 'keys' })
  const masterKey = await masterKeyOf(email, password)
  progress({ step: 'login' })
  const body = { email, password: authKey(masterKey) }
  const answer = await openApi(location.origin).call(consoleLogin, { body })
  const { encrypted_private_key, user } = answer
  const keys = await unwrapKeys('account', userKey(masterKey), encrypted_private_key, user)
  masterKey.fill(0)
  if (!keys) throw new Refused('unreadable_keys')
  const { seed } = keys
  const stays = stayHours !== undefined && seed !== null
  const until = stays ? await stayUnlocked(held.memory, user.id, seed, stayHours) : undefined
  held.open({ email: user.email, userId: user.id }, keys, until)
  return held.state()
}

/** A log-in with the address that is known, which takes the place of the session. */
export async function unlock(
  held: Held,
  { password, stayHours }: { password: string } & Staying,
  progress: Report,
) {
  const now = held.state()
  if (now.kind !== 'locked') throw new Refused('session_ended')
  const sessions = await held.api.list(listSessions, {})
  const staying = stayHours === undefined ? {} : { stayHours }
  await logIn(held, { email: now.email, password, ...staying }, progress)
  const before = sessions.find(({ current }) => current)
  if (before) await held.api.call(revokeSession, { params: { session_id: before.id } })
}

async function masterKeyOf(email: string, password: string): Promise<Uint8Array> {
  const { key_salt, kdf } = await openApi(location.origin).call(prelogin, { body: { email } })
  return deriveMasterKey(password, fromBase64(key_salt) ?? new Uint8Array(), kdf)
}

export async function lock(held: Held, _: null) {
  await forgetStaying(held)
  held.lock()
}

export async function logOut(held: Held, _: null) {
  await forgetStaying(held)
  await held.api.call(logout, { body: {} })
  held.clear()
}

async function forgetStaying(held: Held): Promise<void> {
  const now = held.state()
  if (now.kind === 'open') await held.memory.stay(now.userId, undefined)
}

/** A person did something: the time until it locks begins anew. */
export async function stir(held: Held, _: null) {
  held.stir()
}
