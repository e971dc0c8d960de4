/** Coming in, unlocking and locking. */
import { unwrapKeys } from '../../../../client/account/account_keys.ts'
import { authKey, deriveMasterKey, userKey } from '../../../../client/account/keys.ts'
import { weaknessOf } from '../../../../client/account/password_strength.ts'
import { openApi } from '../../../../client/api.ts'
import { signUp } from '../../../../client/vault.ts'
import { login, logout, prelogin } from '../../../../features/accounts/contract.ts'
import { fromBase64 } from '../../../../platform/crypto/encoding.ts'
import { Refused } from '../failure.ts'
import type { Held } from '../held.ts'
import type { Progress } from '../messages.ts'

type Credentials = { email: string; password: string }
type Report = (progress: Progress) => void

export async function state(held: Held, _: null) {
  return held.state()
}

/** Null for a password that is good enough. */
export async function weakness(_: Held, { email, password }: Credentials) {
  return weaknessOf(password, [email])
}

/** Makes the account with its workspace; returns the recovery key, which is shown once. */
export async function register(_: Held, { email, password }: Credentials, progress: Report) {
  progress({ step: 'keys' })
  const { recoveryKey } = await signUp(location.origin, email, password)
  return { recoveryKey }
}

/** @throws ApiError `invalid_credentials`, Refused `unreadable_keys` */
export async function logIn(held: Held, { email, password }: Credentials, progress: Report) {
  const anonymous = openApi(location.origin)
  const { key_salt, kdf } = await anonymous.call(prelogin, { body: { email } })
  progress({ step: 'keys' })
  const masterKey = await deriveMasterKey(password, fromBase64(key_salt) ?? new Uint8Array(), kdf)
  progress({ step: 'login' })
  const answer = await anonymous.call(login, { body: { email, password: authKey(masterKey) } })
  const { encrypted_private_key, user } = answer
  const keys = await unwrapKeys('account', userKey(masterKey), encrypted_private_key, user)
  masterKey.fill(0)
  if (!keys) throw new Refused('unreadable_keys')
  held.open({ ...keys, email: user.email, userId: user.id }, answer.access)
  return held.state()
}

export async function lock(held: Held, _: null) {
  held.lock()
}

export async function logOut(held: Held, _: null) {
  await held.api.call(logout, { body: {} })
  held.clear()
}
