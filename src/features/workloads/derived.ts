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
import { readDerivedVariable } from '../../core/policy/policy.ts'
import type { Secret } from '../../core/secret.ts'
import {
  type DerivedParts,
  type StoredRoot,
  toDerivedCredential,
} from '../../renewal/derived_credential.ts'
import type { Renewals } from '../../renewal/renewals.ts'

export type Delivering = Access & { renewals: Renewals; clock: Clock }

type Derived = { values: Record<string, string>; unavailable: Record<string, string> }

/** Whether one delivery has waited long enough for renewals. */
export type RenewalWait = { isOver: boolean }

/** Milliseconds that a delivery waits for renewals. */
const WAIT_MS = 20_000
/** Requests to token endpoints that one delivery makes at a time. */
const AT_ONCE = 8

/**
 * The credentials that may be delivered, and the code of the reason for each that is missing. Renewals run in parallel.
 *
 * @throws UnreadBefore while some are renewed, StaleSnapshot
 */
export async function deriveParts(
  access: Delivering,
  snapshot: Snapshot,
  token: LiveToken,
  secrets: readonly SealedSecret[],
  wait: RenewalWait,
): Promise<Derived> {
  const derived: Derived = { values: {}, unavailable: {} }
  const renewing: UnreadBefore[] = []
  const parts = { ...access, snapshot, token, waitFor: (renewal: Promise<void>) => renewal }
  const usable = Map.groupBy(secrets, ({ policy }) => readDerivedVariable(policy))
  for (const { key } of usable.get('signs') ?? []) derived.unavailable[key] = 'policy_blocked'
  for (const sealed of usable.get('delivered') ?? []) {
    // Looked up for each, because the cache may wipe a key whenever its workspace changes.
    const key = await environmentKeyOf(access, snapshot, token, sealed)
    const found = tryDerive(parts, { sealed, key, open: () => openRoot(key, sealed) })
    if (typeof found === 'string') derived.values[sealed.key] = found
    else if (found instanceof Fault) derived.unavailable[sealed.key] = found.code
    else if (wait.isOver) derived.unavailable[sealed.key] = 'derivation_failed'
    else renewing.push(found)
  }
  if (renewing.length === 0) return derived
  throw new UnreadBefore(async () => {
    wait.isOver = !(await endsWithin(WAIT_MS, readAll(renewing)))
  })
}

/** A few at a time. Whether all are renewed: what cannot be is not waited for again. */
async function readAll(renewing: readonly UnreadBefore[]): Promise<boolean> {
  let isAll = true
  for (let from = 0; from < renewing.length; from += AT_ONCE) {
    const some = renewing.slice(from, from + AT_ONCE).map(({ read }) => read())
    const ended = await Promise.allSettled(some)
    isAll &&= ended.every(({ status }) => status === 'fulfilled')
  }
  return isAll
}

/** @throws Fault `unreadable_secret` */
function openRoot(key: Secret, sealed: SealedSecret): Secret {
  const root = openSealed(key.reveal(), sealed)
  if (root) return root
  throw new Fault('unreadable_secret')
}

/** The credential, the reason why it is missing, or the renewal to wait for. */
function tryDerive(parts: DerivedParts, root: StoredRoot): string | Fault | UnreadBefore {
  try {
    return fromUtf8(toDerivedCredential(parts, root).reveal()) ?? ''
  } catch (error) {
    if (error instanceof Fault || error instanceof UnreadBefore) return error
    throw error
  }
}
