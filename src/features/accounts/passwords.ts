/**
 * Stores and checks what clients send as password (protocol 3.1): Argon2id (RFC 9106), a few at a
 * time, because each takes memory and a core. Checking against no account does the same work as
 * checking against one, so that the time of a reply does not show who is registered.
 */
import { randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { Semaphore } from '../../platform/semaphore.ts'

const COST = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const
/** Hashes that wait for a core; with more the server says that it is busy. */
const QUEUE = 200

export type Passwords = {
  /** @throws Fault `unavailable` when too many wait */
  hash(password: string): Promise<string>
  /** With no hash to compare: equal work, and false. @throws Fault `unavailable` */
  matches(password: string, hash: string | null): Promise<boolean>
}

export function openPasswords(): Passwords {
  const turnstile = new Semaphore({ width: Math.max(2, availableParallelism()), queue: QUEUE })
  const unmatchable = unmatchableHash()
  return {
    hash: (password) => turnstile.run(() => Bun.password.hash(password, COST)),
    matches: (password, hash) =>
      turnstile.run(async () => {
        const right = await Bun.password.verify(password, hash ?? unmatchable)
        return right && hash !== null
      }),
  }
}

/** A hash of nothing, in the form and with the cost of a real one. */
function unmatchableHash(): string {
  const part = () => randomBytes(32).toString('base64').replaceAll('=', '')
  return `$argon2id$v=19$m=${COST.memoryCost},t=${COST.timeCost},p=1$${part()}$${part()}`
}
