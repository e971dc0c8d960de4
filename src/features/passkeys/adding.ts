/**
 * A new passkey, by a person who has a session and still must know the password: a stolen session must not become a
 * stolen account. The password is asked for before the authenticator is; what it proved is bound into the challenge,
 * and must still hold when the passkey comes.
 */
import { createHash } from 'node:crypto'
import { quotas } from '../../core/config/quotas.ts'
import { lp, toBase64Url, uuidToBytes } from '../../core/crypto/encoding.ts'
import { buildFieldFault, Fault } from '../../core/fault.ts'
import type { Caller } from '../../core/grant.ts'
import { quotaFault, requireQuota } from '../../database/limits/quota.ts'
import type { InputOf } from '../../http/endpoint.ts'
import { getUser, lockUser, overtaken, requireProof, type User } from '../accounts/index.ts'
import { readClientData, verifyNew } from './ceremony.ts'
import { type Bound, spend } from './challenges.ts'
import type { addPasskey, beginPasskey, setPasskeySeed } from './contract.ts'
import { type PasskeyServices, partyOf } from './passkey_services.ts'
import {
  findPasskey,
  insertPasskey,
  type StoredPasskey,
  sealKey,
  sealSeed,
  selectPasskeys,
  updatePasskey,
} from './queries.ts'

type Person = { caller: Caller; network: string }

/** @throws Fault `validation_error` on a wrong password or origin, `conflict`, `rate_limited` */
export async function beginAdding(
  services: PasskeyServices,
  person: Person,
  { current_password, origin }: InputOf<typeof beginPasskey, 'body'>,
) {
  const { accounts, challenges } = services
  const rpId = partyOf(services, origin)
  const { user } = await requireProof(accounts, person, current_password)
  const most = accounts.quotas.QUOTA_PASSKEYS
  const page = { after: [], limit: most }
  const present = await selectPasskeys(accounts.db, user.id, page)
  if (present.length >= most) throw quotaFault(quotas.passkeys, most)
  return {
    challenge: challenges.issue(boundTo(rpId, person.caller, user)),
    rp_id: rpId,
    user_handle: toBase64Url(uuidToBytes(user.id)),
    exclude: present
      .filter((passkey) => passkey.rpId === rpId)
      .map(({ credentialId, transports }) => ({
        credential_id: toBase64Url(credentialId),
        transports,
      })),
  }
}

/** @throws Fault `validation_error`, `conflict`, `already_exists` */
export async function add(
  { accounts, challenges, origins }: PasskeyServices,
  caller: Caller,
  { label, credential, encrypted_seed }: InputOf<typeof addPasskey, 'body'>,
): Promise<StoredPasskey> {
  const { db, outer, pepper } = accounts
  const user = await getUser(db, caller.userId)
  const said = readClientData(credential.client_data_json)
  const rpId = origins.get(said?.origin ?? '')
  const isAsked = (of: User) =>
    said && rpId && challenges.holds(said.challenge, boundTo(rpId, caller, of))
  if (!said || !rpId || !isAsked(user)) throw buildUnaskedFault()
  const key = await verifyNew(credential, { said, rpId })
  if (!key) throw buildUnaskedFault()
  const stored = { id: Bun.randomUUIDv7(), userId: user.id, rpId, ...key }
  const values = {
    ...{ ...stored, label, transports: credential.transports },
    verifier: sealKey(pepper, stored),
    encryptedSeed: encrypted_seed
      ? await sealSeed(outer, stored, Uint8Array.fromBase64(encrypted_seed))
      : null,
  }
  return db.transaction(async (tx) => {
    const isProven = await lockUser(tx, user.id, { passwordHash: user.passwordHash })
    // New keys leave the password unchanged: a copy of the previous seed must not be added after them.
    if (!isProven || !isAsked(await getUser(tx, user.id))) throw overtaken()
    if (!(await spend(tx, said.challenge))) throw buildUnaskedFault()
    const passkey = await insertPasskey(tx, values)
    if (!passkey)
      throw new Fault('already_exists', { message: 'The passkey is already registered.' })
    await requireQuota(tx, accounts.quotas, 'passkeys', user.id)
    return passkey
  })
}

/** @throws Fault `validation_error` on a wrong password, `not_found`, `conflict`, `rate_limited` */
export async function letUnlock(
  { accounts }: PasskeyServices,
  { passkeyId, ...person }: Person & { passkeyId: string },
  { current_password, encrypted_seed }: InputOf<typeof setPasskeySeed, 'body'>,
): Promise<void> {
  const passkey = await findPasskey(accounts.db, person.caller.userId, passkeyId)
  if (!passkey) throw new Fault('not_found')
  const { user, proof } = await requireProof(accounts, person, current_password)
  const encryptedSeed = await sealSeed(
    accounts.outer,
    passkey,
    Uint8Array.fromBase64(encrypted_seed),
  )
  await accounts.db.transaction(async (tx) => {
    if (!(await lockUser(tx, user.id, proof))) throw overtaken()
    if (!(await updatePasskey(tx, passkey, { encryptedSeed }))) throw new Fault('not_found')
  })
}

/** To the session that asked, and to the password and the keys that the account had then. */
function boundTo(
  rpId: string,
  { sessionId }: Caller,
  { id, passwordHash, publicKey }: User,
): Bound {
  const state = createHash('sha256').update(lp(passwordHash, publicKey)).digest('base64url')
  return ['add', rpId, id, sessionId, state]
}

function buildUnaskedFault(): Fault {
  return buildFieldFault('credential', 'is not a response to a challenge of this session')
}
