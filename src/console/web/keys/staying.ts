/**
 * Staying unlocked: the seed under an AES key that cannot be exported, which the browser keeps in IndexedDB until it
 * expires or somebody locks. Who can run code in this origin can use it as long, and not take it away.
 */
import type { AccountKeys } from '../../../client/account/account_keys.ts'
import { utf8 } from '../../../platform/crypto/encoding.ts'
import { randomBytes } from '../../../platform/crypto/random.ts'
import { identityOf } from '../../../sigchain/index.ts'
import type { Memory } from './memory.ts'

const HOUR_MS = 3_600_000

/** @throws RangeError for an account without a seed, whose keys are of before */
export async function stayUnlocked(
  memory: Memory,
  userId: string,
  seed: Uint8Array<ArrayBuffer>,
  hours: number,
) {
  const key = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, [
    'encrypt',
    'decrypt',
  ])
  const nonce = randomBytes(12)
  const until = Date.now() + hours * HOUR_MS
  const sealed = await crypto.subtle.encrypt(parameters(nonce, userId, until), key, seed)
  await memory.stay(userId, { key, nonce, sealed, until })
  return until
}

/** Null where the person did not choose it, or it has expired. */
export async function stillUnlocked(
  memory: Memory,
  userId: string,
): Promise<{ keys: AccountKeys; until: number } | null> {
  const staying = await memory.staying(userId)
  if (staying === undefined) return null
  const { key, nonce, sealed, until } = staying
  if (until <= Date.now()) {
    await memory.stay(userId, undefined)
    return null
  }
  const seed = new Uint8Array(
    await crypto.subtle.decrypt(parameters(nonce, userId, until), key, sealed),
  )
  const { privateKey, public_key } = await identityOf(seed)
  return { keys: { seed, privateKey, publicKey: Uint8Array.fromBase64(public_key) }, until }
}

function parameters(nonce: Uint8Array<ArrayBuffer>, userId: string, until: number) {
  return { name: 'AES-GCM', iv: nonce, additionalData: utf8(`${userId} ${until}`) }
}
