/**
 * Challenges of passkeys. One is a MAC of what it is for, and when it ends, under SECRET_KEY: all replicas know it, and
 * asking for one stores nothing, so nobody can fill a table or push out the challenges of others. What is stored
 * is that a challenge was answered, because it is good for one answer (protocol 5.1).
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { lt, sql } from 'drizzle-orm'
import type { Clock } from '../../core/clock.ts'
import {
  type Bytes,
  concat,
  fromBase64Url,
  lp,
  toBase64Url,
  u32be,
  utf8,
} from '../../core/crypto/encoding.ts'
import { secretKeysOf } from '../../core/crypto/pepper.ts'
import { hkdf } from '../../core/crypto/primitives.ts'
import type { Transaction } from '../../database/open.ts'
import { spentChallenges } from '../../database/schema/index.ts'

const LIFE_SECONDS = 300
/** Longer than a challenge is good for by any clock. */
const KEPT = sql`now() - interval '1 day'`
const EXPIRY_BYTES = 4
const NONCE_BYTES = 16
const HEAD_BYTES = EXPIRY_BYTES + NONCE_BYTES
const LABEL = 'cloakroom/v2/passkey-challenge'

/** The binding of a challenge: the purpose, the host name, and the account if known. */
export type Bound = readonly [purpose: 'add' | 'log in', rpId: string, ...to: string[]]

export type Challenges = {
  issue(bound: Bound): string
  holds(challenge: string, bound: Bound): boolean
}

export function openChallenges(secretKeys: string, clock: Clock): Challenges {
  const keys = secretKeysOf(secretKeys).map((key) => hkdf(utf8(key), new Uint8Array(), LABEL))
  const seconds = () => Math.floor(clock.now() / 1000)
  const macOf = (head: Uint8Array, bound: Bound, key = keys[0] ?? new Uint8Array()) =>
    createHmac('sha256', key)
      .update(lp(head, ...bound))
      .digest()
  return {
    issue: (bound) => {
      const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES))
      const head = concat(u32be(seconds() + LIFE_SECONDS), nonce)
      return toBase64Url(concat(head, macOf(head, bound)))
    },
    holds: (challenge, bound) => {
      const bytes = fromBase64Url(challenge) ?? new Uint8Array()
      const [head, mac] = [bytes.subarray(0, HEAD_BYTES), bytes.subarray(HEAD_BYTES)]
      const isOf = (key: Bytes) => {
        const expected = macOf(head, bound, key)
        return mac.length === expected.length && timingSafeEqual(mac, expected)
      }
      return keys.some(isOf) && seconds() < new DataView(bytes.buffer).getUint32(0)
    },
  }
}

/** Tells whether this is the first answer to it. */
export async function spend(tx: Transaction, challenge: string): Promise<boolean> {
  const bytes = fromBase64Url(challenge) ?? new Uint8Array()
  await tx.delete(spentChallenges).where(lt(spentChallenges.spentAt, KEPT))
  const spent = await tx
    .insert(spentChallenges)
    .values({ challenge: bytes })
    .onConflictDoNothing()
    .returning({ at: spentChallenges.spentAt })
  return spent.length > 0
}
