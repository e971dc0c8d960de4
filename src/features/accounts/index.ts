/**
 * Accounts and sessions. The server stores verifiers and data that only the person can decrypt; it never learns the
 * password that unlocks the private key (protocol 1).
 */

import { toBase64 } from '../../core/crypto/encoding.ts'
import { parseToken } from '../../core/crypto/token.ts'
import { buildFieldFault, Fault } from '../../core/fault.ts'
import type { Caller } from '../../core/grant.ts'
import { forgetSession, keepSession } from '../../http/console_cookies.ts'
import type { InputOf } from '../../http/endpoint.ts'
import { Reply } from '../../http/reply.ts'
import { listRoute, type OpenTransaction, type Route, route } from '../../http/route.ts'
import { identityFingerprint } from '../../sigchain/index.ts'
import type { SignedServices } from '../links/index.ts'
import { leaveAll } from '../workspaces/index.ts'
import type { AccountServices } from './account_services.ts'
import type { deleteAccount } from './contract.ts'
import * as contract from './contract.ts'
import { storePassword, storeRecoveryKey } from './credential_change.ts'
import { provePassword } from './credentials.ts'
import { getDerivation, logIn } from './login.ts'
import { giveNewKeys } from './new_keys.ts'
import { deleteUser, findUserByEmail, getUser, lockUser, showKeys, showUser } from './queries.ts'
import { showRecoveryCopy, storeRecoveredKeys } from './recovery.ts'
import { registerPerson } from './registration.ts'
import { SESSION_SECONDS, type SessionTokens } from './session_tokens.ts'
import { endOwnSession, findSessionOf, rotateTokens, selectSessions } from './sessions.ts'

export { type AccountServices, openAccountServices } from './account_services.ts'
export { overtaken, requireProof } from './credential_change.ts'
export { openSession } from './login.ts'
export { getUser, hasUsers as hasOwner, lockUser, type User } from './queries.ts'

export function accountsRoutes(shared: SignedServices, services: AccountServices): Route[] {
  return [
    ...entranceRoutes(services),
    ...sessionRoutes(services),
    ...recoveryRoutes(services),
    ...personRoutes(services),
    route(contract.replaceKeys, async ({ body, ...person }) => {
      await giveNewKeys(services, shared, person, body)
      return undefined
    }),
  ]
}

function entranceRoutes(services: AccountServices): Route[] {
  return [
    route(contract.prelogin, ({ body }) => getDerivation(services, body.email)),
    route(contract.register, ({ body, transaction }) =>
      registerPerson(services, transaction, body),
    ),
    route(contract.login, ({ body, ...visitor }) => logIn(services, body, visitor)),
    route(contract.refresh, ({ body }) => rotateTokens(services, body.refresh)),
    route(contract.consoleLogin, async ({ body, ...visitor }) =>
      moveTokensToCookies(await logIn(services, body, visitor)),
    ),
    route(contract.consoleRefresh, async ({ cookies }) =>
      moveTokensToCookies(await rotateTokens(services, cookies?.refresh ?? '')),
    ),
    route(contract.logout, async ({ caller, body, cookies }) => {
      await logOut(services, caller, body.refresh_token)
      return new Reply(undefined, { cookies: cookies ? forgetSession : [] })
    }),
  ]
}

/** Without the tokens, which are sent as HttpOnly cookies. */
export function moveTokensToCookies<T extends SessionTokens>({ access, refresh, ...rest }: T) {
  return new Reply(rest, { cookies: keepSession({ access, refresh }, SESSION_SECONDS) })
}

/** Ends the calling session, and the caller's session that the refresh token belongs to. */
async function logOut(
  { db, pepper }: AccountServices,
  caller: Caller,
  refreshToken: string | undefined,
): Promise<void> {
  const token = refreshToken === undefined ? null : parseToken(refreshToken)
  if (refreshToken !== undefined && token?.kind !== 'ref') {
    throw buildFieldFault('refresh_token', 'must be a refresh token')
  }
  const other = token ? await findSessionOf({ db, pepper }, caller.userId, token) : null
  await endOwnSession(db, caller.userId, caller.sessionId)
  if (other !== null) await endOwnSession(db, caller.userId, other)
}

function sessionRoutes({ db }: AccountServices): Route[] {
  return [
    listRoute(contract.listSessions, ({ caller }) => ({
      name: 'sessions',
      read: (page) => selectSessions(db, caller.userId, page),
      sortKey: ({ id }) => [id],
      open: (rows) => rows.map((row) => ({ ...row, current: row.id === caller.sessionId })),
    })),
    route(contract.revokeSession, async ({ caller, params }) => {
      if (!(await endOwnSession(db, caller.userId, params.session_id))) throw new Fault('not_found')
      return undefined
    }),
  ]
}

function recoveryRoutes(services: AccountServices): Route[] {
  const changing = [contract.changePassword, contract.patchPassword].map((endpoint) =>
    route(endpoint, async ({ body, ...person }) => {
      await storePassword(services, person, body)
      return undefined
    }),
  )
  return [
    ...changing,
    route(contract.replaceRecovery, async ({ body, ...person }) => {
      await storeRecoveryKey(services, person, body)
      return undefined
    }),
    route(contract.beginRecovery, ({ body, network }) => showRecoveryCopy(services, body, network)),
    route(contract.recover, async ({ body, network }) => {
      await storeRecoveredKeys(services, body, network)
      return undefined
    }),
  ]
}

function personRoutes(services: AccountServices): Route[] {
  const { db, lookUps } = services
  return [
    route(contract.deleteAccount, async ({ body, ...person }) => {
      await endAccount(services, person, body)
      return undefined
    }),
    route(contract.getMe, async ({ caller }) => showUser(await getUser(db, caller.userId))),
    route(contract.getPublicKey, async ({ caller, params }) => {
      await lookUps.take(caller.userId)
      const user = await findUserByEmail(db, params.email)
      if (!user) throw new Fault('not_found')
      const keys = showKeys(user)
      return {
        user_id: user.id,
        email: user.email,
        ...keys,
        key_proof: user.keyProof && toBase64(user.keyProof),
        fingerprint: await identityFingerprint(keys),
      }
    }),
  ]
}

type Person = { caller: Caller; network: string; transaction: OpenTransaction }

/**
 * The end of an account, by a person who has a session and still must know the password. Secrets, agents and tokens of
 * shared workspaces, and the audit log, are kept.
 *
 * @throws Fault `validation_error` on a wrong password, `last_owner`, `conflict`, `rate_limited`
 */
async function endAccount(
  services: AccountServices,
  { caller, network, transaction }: Person,
  { current_password: secret }: InputOf<typeof deleteAccount, 'body'>,
): Promise<void> {
  const proven = await provePassword(services, { email: caller.email, network, secret })
  if (!proven) throw buildFieldFault('current_password', 'is wrong')
  if (caller.isInstanceOwner) {
    throw new Fault('conflict', {
      message: 'This account owns the server and is its only owner.',
    })
  }
  await transaction(async (tx, audit) => {
    if (!(await lockUser(tx, caller.userId, proven.proof))) {
      throw new Fault('conflict', { message: 'The password has changed. Retry.' })
    }
    const isRecorded = await leaveAll({ tx, caller, audit })
    if (!isRecorded) audit.unchanged()
    await deleteUser(tx, caller.userId)
  })
}
