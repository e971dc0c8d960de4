/**
 * Staying unlocked: the seed under an AES key that cannot be exported, which the browser keeps in IndexedDB until it
 * expires or somebody locks. Who can run code in this origin can use it as long, and not take it away.
 */
import type { AccountKeys } from '../../../client/account/account_keys.ts'
import { utf8 } from '../../../core/crypto/encoding.ts'
import { randomBytes } from '../../../core/crypto/random.ts'
import { getPublicKey } from '../../../features/accounts/contract.ts'
import { identityOf, requireKeyProof } from '../../../sigchain/index.ts'
import { Refused } from './failure.ts'
import type { HeldKeys, SignedIn } from './held.ts'
import type { BrowserMemory } from './memory.ts'

const HOUR_MS = 3_600_000

/** Hours to stay unlocked for, in this browser; without them it locks when nobody works. */
export type StayChoice = { stayHours?: number }

/**
 * Opens, and stays unlocked where that was chosen; what was chosen before is over.
 *
 * @throws Refused `other_account`
 */
export async function openFor(
  held: HeldKeys,
  person: SignedIn,
  keys: AccountKeys,
  { stayHours }: StayChoice,
): Promise<void> {
  await requireOwnAddress(held, person, keys)
  const until = await stay(held.memory, person, keys, stayHours)
  held.open(person, keys, until)
}

/** What is signed from now on names this address: its keys must have signed that it is theirs, which no server can. */
async function requireOwnAddress(
  { api }: HeldKeys,
  { email }: SignedIn,
  { seed }: AccountKeys,
): Promise<void> {
  if (seed === null) return
  const { key_proof } = await api.call(getPublicKey, { params: { email } })
  await requireKeyProof(await identityOf(seed), email, key_proof ?? '').catch(() => {
    throw new Refused('other_account')
  })
}

/** Another time for keys that are open. @throws Refused `locked` */
export async function stayFor(held: HeldKeys, { stayHours }: StayChoice): Promise<void> {
  const { userId, email, ...keys } = held.reader()
  held.stayUntil((await stay(held.memory, { userId, email }, keys, stayHours)) ?? null)
}

/** An account without a seed, whose keys are of before, does not stay. */
async function stay(
  memory: BrowserMemory,
  { userId, email }: SignedIn,
  { seed }: AccountKeys,
  hours: number | undefined,
): Promise<number | undefined> {
  if (hours === undefined || seed === null) {
    await memory.stay(userId, undefined)
    return undefined
  }
  const key = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, [
    'encrypt',
    'decrypt',
  ])
  const nonce = randomBytes(12)
  const seen = Date.now()
  const until = seen + hours * HOUR_MS
  const sealed = await crypto.subtle.encrypt(parameters(nonce, { userId, email }, until), key, seed)
  await memory.stay(userId, { key, nonce, sealed, email, until, seen })
  return until
}

/** Null where the person did not choose it, it has expired, or it is not for this address. */
export async function stillUnlocked(
  memory: BrowserMemory,
  person: SignedIn,
): Promise<{ keys: AccountKeys; until: number } | null> {
  const staying = await memory.staying(person.userId)
  if (staying === undefined) return null
  const { key, nonce, sealed, until } = staying
  const opened = await crypto.subtle
    .decrypt(parameters(nonce, person, until), key, sealed)
    .catch(() => null)
  if (opened === null) return null
  const seed = new Uint8Array(opened)
  const { privateKey, public_key } = await identityOf(seed)
  return { keys: { seed, privateKey, publicKey: Uint8Array.fromBase64(public_key) }, until }
}

function parameters(
  nonce: Uint8Array<ArrayBuffer>,
  { userId, email }: SignedIn,
  until: number,
): AesGcmParams {
  return { name: 'AES-GCM', iv: nonce, additionalData: utf8(`${userId} ${email} ${until}`) }
}
