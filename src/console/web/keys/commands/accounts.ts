/** Coming in, unlocking and locking. */
import { unwrapKeys } from '../../../../client/account/account_keys.ts'
import { authKey, userKey } from '../../../../client/account/keys.ts'
import { signUp } from '../../../../client/account/log_in.ts'
import { inSentences, weaknessOf } from '../../../../client/account/password_strength.ts'
import { recoverByKey } from '../../../../client/account/recovery.ts'
import { masterKeyOf } from '../../../../client/actions/credentials.ts'
import { openApi } from '../../../../client/http/api.ts'
import {
  consoleLogin,
  getMe,
  listSessions,
  logout,
  revokeSession,
} from '../../../../features/accounts/contract.ts'
import { getInstance } from '../../../../features/instance/contract.ts'
import { failureFrom, Refused } from '../failure.ts'
import type { HeldKeys } from '../held.ts'
import type { Progress } from '../reports.ts'
import { openFor, type StayChoice, stayFor, stillUnlocked } from '../staying.ts'
import { demandStrong } from '../strong.ts'

export const accountsCommands = {
  state,
  check,
  instance,
  weakness,
  register,
  recover,
  logIn,
  unlock,
  lock,
  logOut,
  stay,
  stir,
}

type Credentials = { email: string; password: string }
type Report = (progress: Progress) => void

/** Who works here, asked of the server; keys that were to stay are there again. */
async function state(held: HeldKeys, _: null) {
  if (held.state().kind === 'open') return held.state()
  try {
    const { id: userId, email } = await held.api.call(getMe, {})
    const person = { userId, email }
    const staying = await stillUnlocked(held.memory, person)
    if (staying) held.open(person, staying.keys, staying.until)
    else held.meet(person)
  } catch (error) {
    if (failureFrom(error).code !== 'invalid_token') throw error
    const wasThere = await held.memory.stayNobody()
    if (wasThere) held.clear(true)
    else held.clear()
  }
  return held.state()
}

/** Whether the session is there still, and the time is not over: where it is not, all screens hear of it. */
async function check(held: HeldKeys, _: null) {
  held.expire()
  const { id } = await held.api.call(getMe, {})
  const now = held.state()
  // Another port of the host can put its own cookies in the place of ours.
  if (now.kind === 'open' && now.userId !== id) held.clear(true)
}

/** What of this installation people meet before they have an account. */
async function instance(_: HeldKeys, __: null) {
  return openApi(location.origin).call(getInstance, {})
}

/** Why a password is not good enough; null for one that is. */
async function weakness(_: HeldKeys, { email, password }: Credentials) {
  const found = await weaknessOf(password, [email])
  return found && inSentences(found)
}

/**
 * Makes the account with its workspace; returns the recovery key, which is shown once.
 *
 * @throws ApiError `registration_closed`, `already_exists`, Refused `weak_password`
 */
async function register(
  held: HeldKeys,
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
async function recover(
  _: HeldKeys,
  { email, password, recoveryKey }: Credentials & { recoveryKey: string },
) {
  await demandStrong(password, email)
  return { recoveryKey: await recoverByKey(location.origin, email, recoveryKey, password) }
}

/** @throws ApiError `invalid_credentials`, Refused `unreadable_keys`, `other_account` */
async function logIn(
  held: HeldKeys,
  { email, password, ...staying }: Credentials & StayChoice,
  progress: Report,
) {
  progress({ step: 'keys' })
  const masterKey = await masterKeyOf({ server: location.origin, email }, password)
  progress({ step: 'login' })
  const body = { email, password: authKey(masterKey) }
  const answer = await openApi(location.origin).call(consoleLogin, { body })
  const { encrypted_private_key, user } = answer
  // What is signed names this address: that which was typed, whatever the server says.
  if (user.email !== email.toLowerCase()) throw new Refused('other_account')
  const keys = await unwrapKeys('account', userKey(masterKey), encrypted_private_key, user)
  masterKey.fill(0)
  if (!keys) throw new Refused('unreadable_keys')
  await openFor(held, { email: user.email, userId: user.id }, keys, staying)
  return held.state()
}

/** A log-in with the address that is known, which takes the place of the session. */
async function unlock(
  held: HeldKeys,
  { password, ...staying }: { password: string } & StayChoice,
  progress: Report,
) {
  const now = held.state()
  if (now.kind !== 'locked') throw new Refused('session_ended')
  const sessions = await held.api.list(listSessions, {})
  await logIn(held, { email: now.email, password, ...staying }, progress)
  const before = sessions.find(({ current }) => current)
  if (before) await held.api.call(revokeSession, { params: { session_id: before.id } })
}

async function lock(held: HeldKeys, _: null) {
  await locked(held)
}

/** Keys are forgotten, whatever the server says to the end of the session. */
async function logOut(held: HeldKeys, _: null) {
  await locked(held)
  try {
    await held.api.call(logout, { body: {} })
  } catch (error) {
    if (failureFrom(error).code !== 'invalid_token') return held.lock('unreached')
  }
  held.clear()
}

async function locked(held: HeldKeys): Promise<void> {
  const now = held.state()
  held.lock()
  if (now.kind === 'open') await held.memory.stay(now.userId, undefined)
}

/** How long the keys that are open stay so. */
async function stay(held: HeldKeys, staying: StayChoice) {
  await stayFor(held, staying)
}

/** A person did something: the time until it locks begins again. */
async function stir(held: HeldKeys, _: null) {
  held.stir()
}
