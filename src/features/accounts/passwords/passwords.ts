/**
 * Stores and checks what clients send as password (protocol 3.1): Argon2id (RFC 9106) of what the pepper
 * makes of it for that account, a few at a time, because each takes memory and a core. Checking against no account does the same work as
 * checking against one, so that the time of a reply does not show who is registered.
 */
import { randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { Semaphore } from '../../../core/async/semaphore.ts'
import type { Pepper } from '../../../core/crypto/pepper.ts'
import type { PasswordCost } from '../../../core/password_cost.ts'

/** A PHC string with the id of the pepper's key behind it (protocol 4.1). */
const STORED = /^(\$argon2id(?:\$[^$]+){4})\$([0-9a-f]{8})$/
/**
 * They run in the threads that Bun has for slow work, one for each core and two at least, off the event loop.
 * One thread is left free: what others' requests do there, such as taking the outer layer off, goes on
 * however many log in.
 */
const WIDTH = Math.max(1, availableParallelism() - 1)
/** Maximum hashes that wait for a thread. More are refused as unavailable. */
const QUEUE = 200

export type Passwords = {
  /** `$argon2id$…$` and the id of the pepper's key. @throws Fault `unavailable` when too many wait */
  hash(userId: string, password: string): Promise<string>
  /** With no hash to compare: equal work, and false. @throws Fault `unavailable` */
  matches(userId: string | null, password: string, hash: string | null): Promise<boolean>
  /** Whether it was made under a SECRET_KEY that is no longer the first. */
  isOlder(hash: string): boolean
}

export function openPasswords(pepper: Pepper, cost: PasswordCost): Passwords {
  const turnstile = new Semaphore({ width: WIDTH, queue: QUEUE })
  const [currentKey] = pepper.keyIds
  const unmatchable = { slow: buildUnmatchableHash(cost), keyId: currentKey }
  const algorithm = { algorithm: 'argon2id', ...cost } as const
  return {
    hash: (userId, password) =>
      turnstile.run(async () => {
        const slow = await Bun.password.hash(pepper.pepperPassword(userId, password), algorithm)
        return `${slow}$${currentKey}`
      }),
    matches: (userId, password, hash) =>
      turnstile.run(async () => {
        const parts = partsOf(hash)
        const { slow, keyId } = parts ?? unmatchable
        const peppered = pepper.pepperPassword(userId, password, keyId)
        const right = await Bun.password.verify(peppered, slow)
        return right && parts !== null
      }),
    isOlder: (hash) => partsOf(hash)?.keyId !== currentKey,
  }
}

/** `null` for another format. */
function partsOf(hash: string | null): { slow: string; keyId: string } | null {
  const [, slow, keyId] = STORED.exec(hash ?? '') ?? []
  return slow !== undefined && keyId !== undefined ? { slow, keyId } : null
}

/** A hash of nothing, in the form and with the cost of a real one. */
function buildUnmatchableHash({ memoryCost, timeCost }: PasswordCost): string {
  const part = () => randomBytes(32).toString('base64').replaceAll('=', '')
  return `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=1$${part()}$${part()}`
}
