/** Checks for responses without an audit record: the token is live now, and cached data is current. */
import { decideWhenRead } from '../../core/async/unread.ts'
import { Fault } from '../../core/fault.ts'
import { isSignedId } from '../../sigchain/index.ts'
import type { Access } from '../index.ts'
import type { LiveToken } from '../tokens.ts'
import { type Snapshot, StaleSnapshot } from './snapshots.ts'

const MAX_ATTEMPTS = 5

type Reading = Pick<Access, 'tokens' | 'snapshots'>

/**
 * Returns a snapshot of the workspace in which the token was granted the rights of its row.
 *
 * @throws Fault `invalid_token`, `unverified_state`, `key_not_provisioned`; `unavailable` while the workspace keeps
 *   changing
 */
export async function snapshotNow(
  { tokens, snapshots }: Reading,
  token: LiveToken,
): Promise<Snapshot> {
  const version = (await tokens.versions([token.id])).get(token.id)
  if (version === undefined) throw new Fault('invalid_token')
  return snapshotSince({ snapshots }, token, version, async (snapshot) => {
    await decideWhenRead(() => snapshots.requireGranted(snapshot, token))
    return snapshot
  })
}

/** Calls `use` with a snapshot that is not older than a version. @throws Fault `unavailable` */
export async function snapshotSince<T>(
  { snapshots }: Pick<Access, 'snapshots'>,
  { workspaceId }: LiveToken,
  version: number,
  use: (snapshot: Snapshot) => Promise<T>,
): Promise<T> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    try {
      const snapshot = await snapshots.of(workspaceId)
      if (snapshot.policyVersion >= version) return await use(snapshot)
    } catch (error) {
      if (!(error instanceof StaleSnapshot)) throw error
    }
    snapshots.forget(workspaceId)
  }
  throw new Fault('unavailable')
}

/** Requires a live token with the granted rights of its row. In a plain workspace, the caller has checked that. */
export async function requireGrantedNow(access: Reading, token: LiveToken): Promise<void> {
  const isSigned = token.terms !== null || isSignedId(token.workspaceId)
  if (isSigned) await snapshotNow(access, token)
}
