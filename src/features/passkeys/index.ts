/**
 * Passkeys: log-in by the key of an authenticator, which may hold a second copy of the account's seed. The server
 * verifies signatures and keeps ciphertext; the output that opens it stays with the person.
 */
import { toBase64, toBase64Url } from '../../core/crypto/encoding.ts'
import { Fault } from '../../core/fault.ts'
import { listRoute, type Route, route } from '../../http/route.ts'
import type { FeatureServices } from '../../http/services.ts'
import { type AccountServices, moveTokensToCookies } from '../accounts/index.ts'
import { add, beginAdding, letUnlock } from './adding.ts'
import * as contract from './contract.ts'
import { beginLogin, openPasskeySession } from './login.ts'
import { openPasskeyServices, type PasskeyServices } from './passkey_services.ts'
import {
  deletePasskey,
  findPasskey,
  openSeed,
  type StoredPasskey,
  selectPasskeys,
  updatePasskey,
} from './queries.ts'

export function passkeyRoutes(shared: FeatureServices, accounts: AccountServices): Route[] {
  const services = openPasskeyServices(shared, accounts)
  return [
    ...ownRoutes(services),
    ...seedRoutes(services),
    route(contract.beginPasskeyLogin, ({ body }) => beginLogin(services, body.origin)),
    route(contract.passkeyLogin, ({ body, ...visitor }) =>
      openPasskeySession(services, body.credential, visitor),
    ),
    route(contract.consolePasskeyLogin, async ({ body, ...visitor }) =>
      moveTokensToCookies(await openPasskeySession(services, body.credential, visitor)),
    ),
  ]
}

function ownRoutes(services: PasskeyServices): Route[] {
  const { db } = services.accounts
  return [
    listRoute(contract.listPasskeys, ({ caller }) => ({
      name: 'passkeys',
      read: (page) => selectPasskeys(db, caller.userId, page),
      sortKey: ({ id }) => [id],
      open: (rows) => rows.map(show),
    })),
    route(contract.beginPasskey, ({ body, ...person }) => beginAdding(services, person, body)),
    route(contract.addPasskey, async ({ caller, body }) => show(await add(services, caller, body))),
    route(contract.renamePasskey, async ({ caller, params, body }) => {
      const own = { userId: caller.userId, id: params.passkey_id }
      return show(requirePasskey(await db.transaction((tx) => updatePasskey(tx, own, body))))
    }),
    route(contract.removePasskey, async ({ caller, params }) => {
      if (!(await deletePasskey(db, caller.userId, params.passkey_id))) throw new Fault('not_found')
      return undefined
    }),
  ]
}

function seedRoutes(services: PasskeyServices): Route[] {
  const { db, outer } = services.accounts
  return [
    route(contract.getPasskeySeed, async ({ caller, params }) => {
      const passkey = requirePasskey(await findPasskey(db, caller.userId, params.passkey_id))
      const seed = await openSeed(outer, passkey)
      return { encrypted_seed: seed && toBase64(seed) }
    }),
    route(contract.setPasskeySeed, async ({ params, body, ...person }) => {
      await letUnlock(services, { ...person, passkeyId: params.passkey_id }, body)
      return undefined
    }),
  ]
}

/** @throws Fault `not_found` */
function requirePasskey(passkey: StoredPasskey | null): StoredPasskey {
  if (passkey) return passkey
  throw new Fault('not_found')
}

function show(passkey: StoredPasskey) {
  return {
    id: passkey.id,
    credential_id: toBase64Url(passkey.credentialId),
    rp_id: passkey.rpId,
    label: passkey.label,
    transports: passkey.transports,
    can_unlock: passkey.encryptedSeed !== null,
    last_used_at: passkey.lastUsedAt,
    created_at: passkey.createdAt,
  }
}
