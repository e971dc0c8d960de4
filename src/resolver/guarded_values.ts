/** Opens the values of an environment that a token may use, and the values derived from them, for the guard. */
import { environmentKeyOf } from '../access/environment_key.ts'
import type { KeyCache } from '../access/keys.ts'
import type { Granted } from '../access/snapshots/snapshot.ts'
import type { Snapshot, SnapshotCache } from '../access/snapshots/snapshots.ts'
import type { LiveToken } from '../access/tokens.ts'
import { openSealed, type SealedSecret } from '../core/crypto/secret_value.ts'
import { Fault } from '../core/fault.ts'
import type { Secret } from '../core/secret.ts'
import type { MadeBytes, NamedBytes } from '../leak_guard/index.ts'
import { deriveValues } from '../outbound/derived_values.ts'
import { listGuardedDerived } from '../renewal/derived_credential.ts'

/** The services and state that open a value. */
export type GuardedValueParts = {
  snapshots: SnapshotCache
  keys: KeyCache
  snapshot: Snapshot
  token: LiveToken
}

/** A value, and all that a call can derive from it. A root's `value` is one of its secret fields or a derived value. */
type Guarded = { value: NamedBytes; made: MadeBytes[]; state?: string }

/** Values decrypted between two pauses: well under a millisecond. */
const OPENED_AT_ONCE = 32

/** Decrypts all secrets, except for settings and damaged ones, which cannot be used either. */
export async function openAll(
  parts: GuardedValueParts,
  place: Granted,
  pause: () => Promise<void>,
): Promise<Guarded[]> {
  const { snapshots, snapshot, token } = parts
  const sealed = await snapshots.readEnvironment(snapshot, place.projectId, place.environment)
  const secrets = (sealed ?? []).filter(({ policy }) => policy?.sensitive !== false)
  const values: Guarded[] = []
  for (let from = 0; from < secrets.length; from += OPENED_AT_ONCE) {
    if (from > 0) await pause()
    // Look the key up again after each pause, because the cache may have erased it.
    const key = await environmentKeyOf(parts, snapshot, token, place)
    const some = secrets.slice(from, from + OPENED_AT_ONCE)
    values.push(...some.flatMap((secret) => open(key.reveal(), secret)))
  }
  return values
}

/** Returns `null` if the token does not have the current key. */
export async function openedKeyOf(
  parts: GuardedValueParts,
  place: Granted,
): Promise<Secret | null> {
  try {
    return await environmentKeyOf(parts, parts.snapshot, parts.token, place)
  } catch (error) {
    if (error instanceof Fault && error.code === 'key_not_provisioned') return null
    throw error
  }
}

function open(key: Uint8Array, sealed: SealedSecret): Guarded[] {
  const value = openSealed(key, sealed)
  if (!value) return []
  if (sealed.policy?.kind)
    return listGuardedDerived(sealed, value, key).map((bytes) => ({
      value: { name: sealed.key, bytes },
      made: [],
      state: `${sealed.key}/${sealed.derived?.generation ?? 0}`,
    }))
  const bytes = value.reveal()
  const made = deriveValues(sealed.key, bytes, sealed.policy)
  return [{ value: { name: sealed.key, bytes }, made }]
}
