/**
 * A remembered unlock. The browser keeps the seed in IndexedDB, sealed under an AES key that cannot be exported, until
 * the time ends or the user locks. A script in this origin can use that key meanwhile, but cannot export it.
 */
import type { AccountKeys } from '../../../client/account/account_keys.ts'
import { utf8 } from '../../../core/crypto/encoding.ts'
import { generateRandomBytes } from '../../../core/crypto/random.ts'
import { getPublicKey } from '../../../features/accounts/contract.ts'
import { identityOf, requireKeyProof } from '../../../sigchain/index.ts'
import { Refused } from './failure.ts'
import type { BrowserMemory } from './memory.ts'
import type { SignedIn, UnlockedSession } from './unlocked_session.ts'

const HOUR_MS = 3_600_000

/** Hours to stay unlocked in this browser. Without them, the idle timer locks the keys. */
export type RememberChoice = { stayHours?: number }

/**
 * Unlocks the session, and remembers it if the user chose so. An earlier choice ends.
 *
 * @throws Refused `other_account`
 */
export async function openAndRemember(
  session: UnlockedSession,
  person: SignedIn,
  keys: AccountKeys,
  { stayHours }: RememberChoice,
): Promise<void> {
  await requireOwnAddress(session, person, keys)
  const until = await remember(session.memory, person, keys, stayHours)
  session.open(person, keys, until)
}

/** Signed changes name this email. The account's own key proof must cover it, which a server cannot forge. */
async function requireOwnAddress(
  { api }: UnlockedSession,
  { email }: SignedIn,
  { seed }: AccountKeys,
): Promise<void> {
  if (seed === null) return
  const { key_proof } = await api.call(getPublicKey, { params: { email } })
  await requireKeyProof(await identityOf(seed), email, key_proof ?? '').catch(() => {
    throw new Refused('other_account')
  })
}

/** Changes how long unlocked keys are remembered. @throws Refused `locked` */
export async function rememberFor(
  session: UnlockedSession,
  { stayHours }: RememberChoice,
): Promise<void> {
  const { userId, email, ...keys } = session.reader()
  session.setLockTime((await remember(session.memory, { userId, email }, keys, stayHours)) ?? null)
}

/** Stores the sealed seed and returns its end. An account without a seed is not remembered. */
async function remember(
  memory: BrowserMemory,
  { userId, email }: SignedIn,
  { seed }: AccountKeys,
  hours: number | undefined,
): Promise<number | undefined> {
  if (hours === undefined || seed === null) {
    await memory.setRememberedKey(userId, undefined)
    return undefined
  }
  const key = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, [
    'encrypt',
    'decrypt',
  ])
  const nonce = generateRandomBytes(12)
  const seen = Date.now()
  const until = seen + hours * HOUR_MS
  const sealed = await crypto.subtle.encrypt(parameters(nonce, { userId, email }, until), key, seed)
  await memory.setRememberedKey(userId, { key, nonce, sealed, email, until, seen })
  return until
}

/** Null if the user did not choose it, the time has ended, or it belongs to another email. */
export async function restoreUnlock(
  memory: BrowserMemory,
  person: SignedIn,
): Promise<{ keys: AccountKeys; until: number } | null> {
  const remembered = await memory.rememberedKey(person.userId)
  if (remembered === undefined) return null
  const { key, nonce, sealed, until } = remembered
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
