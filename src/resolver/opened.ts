/** Decrypts the secrets of an environment for a token, a few at a time. */
import { environmentKeyOf } from '../access/environment_key.ts'
import type { Granted } from '../access/snapshots/snapshot.ts'
import type { Snapshot, SnapshotCache } from '../access/snapshots/snapshots.ts'
import type { LiveToken } from '../access/tokens.ts'
import { TimeSlice } from '../core/async/time_slice.ts'
import { openSealed, type SealedSecret } from '../core/crypto/secret_value.ts'
import type { Secret } from '../core/secret.ts'
import type { ResolverServices } from './services.ts'

/** Maximum values decrypted between two pauses: small ones take well under a millisecond. */
const OPENED_AT_ONCE = 32

type Parts = Pick<ResolverServices, 'keys' | 'outbound'> & { snapshots: SnapshotCache }

/**
 * Passes the requested secrets to `take`, with `null` for a value that cannot be decrypted.
 *
 * @throws Fault `key_not_provisioned`
 * @throws StaleSnapshot
 */
export async function openEach(
  parts: Parts,
  { snapshot, token, place }: { snapshot: Snapshot; token: LiveToken; place: Granted },
  isWanted: (sealed: SealedSecret) => boolean,
  take: (sealed: SealedSecret, value: Secret | null) => void,
): Promise<void> {
  const { projectId, environment } = place
  const sealed = await parts.snapshots.readEnvironment(snapshot, projectId, environment)
  const wanted = (sealed ?? []).filter(isWanted)
  for (let at = 0; at < wanted.length; ) {
    if (at > 0) await parts.outbound.steps.pause(snapshot.workspaceId)
    // Look the key up again after each pause, because the cache may have erased it.
    const key = await environmentKeyOf(parts, snapshot, token, place)
    const slice = new TimeSlice()
    const end = at + OPENED_AT_ONCE
    do {
      const secret = wanted[at]
      if (secret) take(secret, openSealed(key.reveal(), secret))
      at += 1
    } while (at < end && !slice.isSpent)
  }
}
