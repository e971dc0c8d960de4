/**
 * From a token to the environment key that was sealed for it. The secret part of the presented token
 * opens the envelope; nothing that is stored could (protocol 4).
 */
import { openTokenEnvelope } from '../platform/crypto/envelope.ts'
import { tokenKeyPair } from '../platform/crypto/token.ts'
import { Fault } from '../platform/fault.ts'
import { Secret } from '../platform/secret.ts'
import type { KeyCache } from './keys.ts'
import type { SealedEnvelope, Snapshot, SnapshotCache } from './snapshots.ts'
import type { LiveToken } from './tokens.ts'

/**
 * The key of one project and environment, from the cache or from the token's envelope. It may be wiped
 * when its workspace changes: to be used before the next wait.
 *
 * @throws Fault `key_not_provisioned` without an envelope of the current epoch that opens
 * @throws StaleSnapshot
 */
export async function environmentKeyOf(
  { snapshots, keys }: { snapshots: SnapshotCache; keys: KeyCache },
  snapshot: Snapshot,
  token: LiveToken,
  { projectId, environment }: { projectId: string; environment: string },
): Promise<Secret> {
  const { generation } = keys
  const name = keyNameOf(snapshot, token, { projectId, environment })
  const cached = keys.get(name)
  if (cached) return cached
  const sealed = await grantOf(snapshots, snapshot, token, { projectId, environment })
  const place = {
    workspaceId: snapshot.workspaceId,
    tokenId: token.id,
    projectId,
    environment,
    epoch: sealed.epoch,
  }
  const { privateKey } = tokenKeyPair(token.id, token.secret())
  const opened = sealed.envelope && (await openTokenEnvelope(place, privateKey, sealed.envelope))
  if (!opened) throw new Fault('key_not_provisioned')
  const key = new Secret(opened)
  keys.put(name, key, generation)
  return key
}

/** Under which name the cache has the key that a token was given. */
export function keyNameOf(
  { workspaceId, policyVersion }: Snapshot,
  token: LiveToken,
  { projectId, environment }: { projectId: string; environment: string },
): string {
  return `${workspaceId}/${token.id}/${projectId}/${environment}/${policyVersion}`
}

/**
 * The envelope that grants a token an environment.
 *
 * @throws Fault `key_not_provisioned` without one of the current epoch
 * @throws StaleSnapshot
 */
export async function grantOf(
  snapshots: SnapshotCache,
  snapshot: Snapshot,
  token: LiveToken,
  { projectId, environment }: { projectId: string; environment: string },
): Promise<SealedEnvelope> {
  const sealed = await snapshots.envelope(snapshot, token.id, projectId, environment)
  if (!sealed || sealed.epoch !== snapshot.epoch) throw new Fault('key_not_provisioned')
  return sealed
}
