/** Credentials that are derived from roots, in a delivery (protocol 13.5). No root is delivered. */
import { environmentKeyOf } from '../../access/environment_key.ts'
import type { Access } from '../../access/index.ts'
import type { Snapshot } from '../../access/snapshots/snapshots.ts'
import type { LiveToken } from '../../access/tokens.ts'
import { endsWithin } from '../../core/async/timeout.ts'
import { UnreadBefore } from '../../core/async/unread.ts'
import type { Clock } from '../../core/clock.ts'
import { fromUtf8 } from '../../core/crypto/encoding.ts'
import { openSealed, type SealedSecret } from '../../core/crypto/secret_value.ts'
import { Fault } from '../../core/fault.ts'
import { isDerivedVariable } from '../../core/policy/policy.ts'
import { derivedCredential } from '../../renewal/derived_credential.ts'
import type { Renewals } from '../../renewal/renewals.ts'

export type Delivering = Access & { renewals: Renewals; clock: Clock }

type Derived = { values: Record<string, string>; unavailable: Record<string, string> }

/** Of one delivery: whether it waited for renewals for long enough. */
export type RenewalWait = { isOver: boolean }

/** Milliseconds that a delivery waits for renewals. */
const WAIT_MS = 20_000

/**
 * What may be delivered of these secrets, and by its code why not. All that have to be renewed are renewed at once.
 *
 * @throws UnreadBefore while some are renewed, StaleSnapshot
 */
export async function derivedParts(
  access: Delivering,
  snapshot: Snapshot,
  token: LiveToken,
  secrets: readonly SealedSecret[],
  wait: RenewalWait,
): Promise<Derived> {
  const derived: Derived = { values: {}, unavailable: {} }
  const renewing: UnreadBefore[] = []
  const parts = { ...access, snapshot, token, waitFor: (renewal: Promise<void>) => renewal }
  for (const sealed of secrets.filter(({ policy }) => isDerivedVariable(policy))) {
    // Looked up for each, because the cache may wipe a key whenever its workspace changes.
    const key = await environmentKeyOf(access, snapshot, token, sealed)
    const root = openSealed(key.reveal(), sealed)
    try {
      if (!root) throw new Fault('unreadable_secret')
      const credential = derivedCredential(parts, { sealed, root, key })
      derived.values[sealed.key] = fromUtf8(credential.reveal()) ?? ''
    } catch (error) {
      if (error instanceof UnreadBefore && !wait.isOver) renewing.push(error)
      else if (error instanceof UnreadBefore) derived.unavailable[sealed.key] = 'derivation_failed'
      else if (error instanceof Fault) derived.unavailable[sealed.key] = error.code
      else throw error
    }
  }
  if (renewing.length === 0) return derived
  throw new UnreadBefore(async () => {
    wait.isOver = !(await endsWithin(WAIT_MS, Promise.all(renewing.map(({ read }) => read()))))
  })
}
