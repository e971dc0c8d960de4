/**
 * Log-in by a passkey: the authenticator names the account, so what is asked for says nothing of any, and every
 * refusal is the same. What a row says of a key counts if the pepper made it: one that was written into the database,
 * or moved, is no log-in.
 */
import { fromBase64Url, toBase64, toBase64Url, uuidToBytes } from '../../core/crypto/encoding.ts'
import { Fault } from '../../core/fault.ts'
import type { InputOf } from '../../http/endpoint.ts'
import { getUser, openSession } from '../accounts/index.ts'
import { readClientData, verifyAssertion } from './ceremony.ts'
import { spend } from './challenges.ts'
import type { passkeyLogin } from './contract.ts'
import { type PasskeyServices, partyOf } from './passkey_services.ts'
import { countUse, findByCredential, matchKey, openSeed, sealKey } from './queries.ts'

type Assertion = InputOf<typeof passkeyLogin, 'body'>['credential']

/** @throws Fault `validation_error` where passkeys are not used at that origin */
export function beginLogin(services: PasskeyServices, origin: string) {
  const rpId = partyOf(services, origin)
  return { challenge: services.challenges.issue(['log in', rpId]), rp_id: rpId }
}

/** @throws Fault `invalid_credentials`, `rate_limited` */
export async function openPasskeySession(
  services: PasskeyServices,
  credential: Assertion,
  { network, userAgent }: { network: string; userAgent: string },
) {
  const { accounts } = services
  const attempt = { what: 'passkey', account: credential.id, network } as const
  const proven = await accounts.throttle.judge(attempt, () => prove(services, credential))
  if (!proven) throw refusal()
  const { passkey, challenge, used, seed } = proven
  const user = await getUser(accounts.db, passkey.userId)
  const session = await openSession(
    accounts,
    { user, userAgent, passkeyId: passkey.id },
    async (tx) => (await spend(tx, challenge)) && (await countUse(tx, passkey, used)),
  ).catch((error: unknown) => {
    throw error instanceof Fault && error.code === 'invalid_credentials' ? refusal() : error
  })
  return { ...session, passkey: { id: passkey.id, encrypted_seed: seed && toBase64(seed) } }
}

async function prove({ accounts, origins, challenges }: PasskeyServices, credential: Assertion) {
  const said = readClientData(credential.client_data_json)
  const rpId = origins.get(said?.origin ?? '')
  if (!said || !rpId || !challenges.holds(said.challenge, ['log in', rpId])) return null
  const { db, outer, pepper } = accounts
  const passkey = await findByCredential(db, fromBase64Url(credential.id) ?? new Uint8Array())
  const isOf = (userId: string) => credential.user_handle === toBase64Url(uuidToBytes(userId))
  if (passkey?.rpId !== rpId || !isOf(passkey.userId)) return null
  const match = matchKey(pepper, passkey)
  if (match === 'wrong') return null
  const counter = await verifyAssertion(credential, { said, rpId }, passkey)
  if (counter === null) return null
  const renewed = match === 'older' ? { verifier: sealKey(pepper, passkey) } : {}
  return {
    passkey,
    challenge: said.challenge,
    used: { counter, ...renewed },
    seed: await openSeed(outer, passkey),
  }
}

function refusal(): Fault {
  return new Fault('invalid_credentials', {
    message: 'This passkey is not registered on this server.',
  })
}
