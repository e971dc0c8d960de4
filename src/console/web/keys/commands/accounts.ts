/** Creating an account, signing in, unlocking and locking. */
import { unwrapKeys } from '../../../../client/account/account_keys.ts'
import { authKey, userKey } from '../../../../client/account/keys.ts'
import { signUp } from '../../../../client/account/log_in.ts'
import { formatWeakness, weaknessOf } from '../../../../client/account/password_strength.ts'
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
import {
  openAndRemember,
  type RememberChoice,
  rememberFor,
  restoreUnlock,
} from '../remembered_unlock.ts'
import type { Progress } from '../reports.ts'
import { demandStrong } from '../strong.ts'
import type { UnlockedSession } from '../unlocked_session.ts'

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
  recordActivity,
}

type Credentials = { email: string; password: string }
type Report = (progress: Progress) => void

/** Reads the user from the server, and restores a remembered unlock. */
async function state(session: UnlockedSession, _: null) {
  if (session.state().kind === 'open') return session.state()
  try {
    const { id: userId, email } = await session.api.call(getMe, {})
    const person = { userId, email }
    const remembered = await restoreUnlock(session.memory, person)
    if (remembered) session.open(person, remembered.keys, remembered.until)
    else session.setUser(person)
  } catch (error) {
    if (failureFrom(error).code !== 'invalid_token') throw error
    const hadKeys = await session.memory.forgetRememberedKeys()
    if (hadKeys) session.clear(true)
    else session.clear()
  }
  return session.state()
}

/** Checks the lock time and the session. If either has ended, all screens are notified. */
async function check(session: UnlockedSession, _: null) {
  session.expire()
  const { id } = await session.api.call(getMe, {})
  const now = session.state()
  // A server on another port of this host can replace our cookies.
  if (now.kind === 'open' && now.userId !== id) session.clear(true)
}

/** The installation's public settings, such as whether registration is open. */
async function instance(_: UnlockedSession, __: null) {
  return openApi(location.origin).call(getInstance, {})
}

/** Why a password is too weak, or null if it is strong. */
async function weakness(_: UnlockedSession, { email, password }: Credentials) {
  const found = await weaknessOf(password, [email])
  return found && formatWeakness(found)
}

/**
 * Creates the account and its workspace. Returns the recovery key, which is shown once.
 *
 * @throws ApiError `registration_closed`, `already_exists`, Refused `weak_password`
 */
async function register(
  session: UnlockedSession,
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
    session.memory.chains.put(workspaceId, (before) => before ?? { ...known, manifests: {} })
  }
  return { recoveryKey, workspaceId }
}

/**
 * Sets a new password with the recovery key. Returns the next recovery key, which is shown once.
 *
 * @throws ApiError `invalid_credentials`, MalformedRecoveryKey, UnreadableCopy, Refused `weak_password`
 */
async function recover(
  _: UnlockedSession,
  { email, password, recoveryKey }: Credentials & { recoveryKey: string },
) {
  await demandStrong(password, email)
  return { recoveryKey: await recoverByKey(location.origin, email, recoveryKey, password) }
}

/** @throws ApiError `invalid_credentials`, Refused `unreadable_keys`, `other_account` */
async function logIn(
  session: UnlockedSession,
  { email, password, ...remembering }: Credentials & RememberChoice,
  progress: Report,
) {
  progress({ step: 'keys' })
  const masterKey = await masterKeyOf({ server: location.origin, email }, password)
  progress({ step: 'login' })
  const body = { email, password: authKey(masterKey) }
  const answer = await openApi(location.origin).call(consoleLogin, { body })
  const { encrypted_private_key, user } = answer
  // Signed changes name this email, so it must be the typed one, not the server's.
  if (user.email !== email.toLowerCase()) throw new Refused('other_account')
  const keys = await unwrapKeys('account', userKey(masterKey), encrypted_private_key, user)
  masterKey.fill(0)
  if (!keys) throw new Refused('unreadable_keys')
  await openAndRemember(session, { email: user.email, userId: user.id }, keys, remembering)
  return session.state()
}

/** Signs in again with the known email, and revokes the previous session. */
async function unlock(
  session: UnlockedSession,
  { password, ...remembering }: { password: string } & RememberChoice,
  progress: Report,
) {
  const now = session.state()
  if (now.kind !== 'locked') throw new Refused('session_ended')
  const sessions = await session.api.list(listSessions, {})
  await logIn(session, { email: now.email, password, ...remembering }, progress)
  const before = sessions.find(({ current }) => current)
  if (before) await session.api.call(revokeSession, { params: { session_id: before.id } })
}

async function lock(session: UnlockedSession, _: null) {
  await lockAndForget(session)
}

/** Forgets the keys even if the server cannot end the session. */
async function logOut(session: UnlockedSession, _: null) {
  await lockAndForget(session)
  try {
    await session.api.call(logout, { body: {} })
  } catch (error) {
    if (failureFrom(error).code !== 'invalid_token') return session.lock('unreached')
  }
  session.clear()
}

async function lockAndForget(session: UnlockedSession): Promise<void> {
  const now = session.state()
  session.lock()
  if (now.kind === 'open') await session.memory.setRememberedKey(now.userId, undefined)
}

/** Changes how long unlocked keys are remembered. */
async function stay(session: UnlockedSession, choice: RememberChoice) {
  await rememberFor(session, choice)
}

/** Restarts the idle timer. */
async function recordActivity(session: UnlockedSession, _: null) {
  session.recordActivity()
}
