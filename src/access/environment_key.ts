/**
 * Opens the environment key that was sealed for a token. Only the secret part of the presented token opens the
 * envelope; stored data cannot (protocol 4).
 */
import { openTokenEnvelope } from '../core/crypto/envelope.ts'
import { tokenPrivateKey } from '../core/crypto/token.ts'
import { commandFix, Fault } from '../core/fault.ts'
import { Secret } from '../core/secret.ts'
import type { KeyCache } from './keys.ts'
import type { SealedEnvelope, Snapshot, SnapshotCache } from './snapshots/snapshots.ts'
import type { LiveToken } from './tokens.ts'

type Place = { projectId: string; environment: string }

/**
 * The key of one project and environment, from the cache or from the token's envelope. Use it before the next wait,
 * because a change of its workspace may erase it.
 *
 * @throws Fault `key_not_provisioned` without an envelope of the current epoch that opens
 * @throws StaleSnapshot
 */
export async function environmentKeyOf(
  caches: { snapshots: SnapshotCache; keys: KeyCache },
  snapshot: Snapshot,
  token: LiveToken,
  place: Place,
): Promise<Secret> {
  const cached = caches.keys.get(keyNameOf(snapshot, token, place))
  return cached ?? (await openEnvironmentKey(caches, snapshot, token, place))
}

/** Decrypts the key from the envelope, and caches it. */
export async function openEnvironmentKey(
  { snapshots, keys }: { snapshots: SnapshotCache; keys: KeyCache },
  snapshot: Snapshot,
  token: LiveToken,
  place: Place,
): Promise<Secret> {
  const { generation } = keys
  const { projectId, environment } = place
  const { epoch, envelope } = await grantOf(snapshots, snapshot, token, place)
  const bound = {
    workspaceId: snapshot.workspaceId,
    tokenId: token.id,
    projectId,
    environment,
    epoch,
  }
  const opened =
    envelope && openTokenEnvelope(bound, tokenPrivateKey(token.id, token.secret()), envelope)
  if (!opened) throw buildNotProvisionedFault(token, environment)
  const key = new Secret(opened)
  keys.put(keyNameOf(snapshot, token, place), key, generation)
  return key
}

/** The cache name of a token's key. */
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
  if (!sealed || sealed.epoch !== snapshot.epoch) throw buildNotProvisionedFault(token, environment)
  return sealed
}

/** An admin grants the environment by token ID, which its bearer may know. */
function buildNotProvisionedFault({ kind, name, id }: LiveToken, environment: string): Fault {
  const grant = kind === 'agent' ? ['token', 'grant', name, id] : ['workload-token', 'grant', id]
  return new Fault('key_not_provisioned', { fix: commandFix(...grant, '-e', environment) })
}
