/** A person's own account: sessions, password, recovery key, the fingerprint of its keys, and its deletion. */

import {
  changeOwnPassword,
  type Holder,
  removeAccount,
  renewRecoveryKey,
} from '../../../../client/actions/credentials.ts'
import { ApiError } from '../../../../client/http/api.ts'
import { listSessions, revokeSession } from '../../../../features/accounts/contract.ts'
import { identityFingerprint } from '../../../../sigchain/index.ts'
import { Refused } from '../failure.ts'
import { demandStrong } from '../strong.ts'
import type { UnlockedSession } from '../unlocked_session.ts'

export const credentialsCommands = {
  sessions,
  endSessions,
  fingerprint,
  changePassword,
  newRecoveryKey: createRecoveryKey,
  deleteAccount,
}

/** Newest first. */
async function sessions({ api }: UnlockedSession, _: null) {
  return api.list(listSessions, {})
}

/** Sessions that already ended are ignored. */
async function endSessions({ api }: UnlockedSession, { ids }: { ids: readonly string[] }) {
  for (const id of ids) await api.call(revokeSession, { params: { session_id: id } })
}

/** Other people compare it before they invite this account. @throws Refused `no_signing_key` */
async function fingerprint(session: UnlockedSession, _: null) {
  return identityFingerprint(await session.reader().identity())
}

/** Ends all other sessions. @throws ApiError `validation_error` for a wrong password, Refused `weak_password` */
async function changePassword(
  session: UnlockedSession,
  { current, password }: { current: string; password: string },
) {
  const holder = holderOf(session)
  await demandStrong(password, holder.email)
  await changeOwnPassword(holder, current, password)
}

/** Returns the new key, which is shown once. @throws ApiError `validation_error` for a wrong password */
async function createRecoveryKey(session: UnlockedSession, { current }: { current: string }) {
  return { recoveryKey: await renewRecoveryKey(holderOf(session), current) }
}

/** @throws ApiError `last_owner`, `validation_error` for a wrong password, Refused `account_stays` */
async function deleteAccount(session: UnlockedSession, { current }: { current: string }) {
  await removeAccount(holderOf(session), current).catch((error: unknown) => {
    // The server refuses while the account owns the installation.
    const isKept = error instanceof ApiError && error.code === 'conflict'
    throw isKept ? new Refused('account_stays') : error
  })
  session.clear()
}

function holderOf(session: UnlockedSession): Holder {
  const { email, privateKey, publicKey, seed } = session.reader()
  return { api: session.api, server: location.origin, email, privateKey, publicKey, seed }
}
