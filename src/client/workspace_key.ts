/**
 * The key of a workspace, as a client saw it before. The server hands out the envelope that a member opens,
 * and could return an envelope with a foreign key, or one of an ended epoch: what is stored or granted
 * under such a key is not closed to it. So no other key is taken for an epoch that is known, and none of an
 * earlier one. The first key, and that of a new epoch, are believed.
 */
import { fromBase64 } from '../core/crypto/encoding.ts'
import { fingerprint } from '../core/crypto/fingerprint.ts'
import { keyCommitment } from '../core/crypto/key_commitment.ts'

/** A workspace's key in the clear: on a client only. */
export type WorkspaceKey = { id: string; name: string; epoch: number; key: Uint8Array }

export type KnownKey = { epoch: number; commitment: string }

/** A key that is not the one that was seen before. */
export class UntrustedKey extends Error {
  override readonly name = 'UntrustedKey'
}

export function knownKeyOf({ id, epoch, key }: WorkspaceKey): KnownKey {
  return { epoch, commitment: keyCommitment(id, epoch, key) }
}

/** For two members of a plain workspace to compare. */
export function keyFingerprint({ commitment }: KnownKey): Promise<string> {
  return fingerprint(fromBase64(commitment) ?? new Uint8Array())
}

/** Whether the key is unchanged. @throws UntrustedKey for one that must not follow it */
export function isKnownKey(workspace: WorkspaceKey, known: KnownKey | undefined): boolean {
  if (known === undefined || workspace.epoch > known.epoch) return false
  const { name, epoch } = workspace
  if (epoch < known.epoch) {
    throw new UntrustedKey(
      `the server has an older key of ${name}: epoch ${epoch}, but this machine has seen epoch ${known.epoch}`,
    )
  }
  if (knownKeyOf(workspace).commitment === known.commitment) return true
  throw new UntrustedKey(`the key of ${name} has changed (epoch ${epoch})`)
}

/** The keys that a client saw. */
export type KnownWorkspaceKeys = {
  of(workspaceId: string): KnownKey | undefined
  /** Remembers a first key, and one of a new epoch, which is said. Returns what speaks against a key. */
  check(workspace: WorkspaceKey): UntrustedKey | null
  /** In the place of what was known. */
  remember(workspace: WorkspaceKey): void
}

/** The store of the keys. */
export type KnownKeys = {
  of(workspaceId: string): KnownKey | undefined
  /** Asks `change` with what is there by then; nothing is written where it returns undefined. */
  put(workspaceId: string, change: (before: KnownKey | undefined) => KnownKey | undefined): void
}

export function knownWorkspaceKeys(
  { of, put }: KnownKeys,
  rekeyed: (workspace: WorkspaceKey) => void,
): KnownWorkspaceKeys {
  const check = (workspace: WorkspaceKey) => {
    const before = of(workspace.id)
    try {
      if (isKnownKey(workspace, before)) return null
    } catch (error) {
      if (error instanceof UntrustedKey) return error
      throw error
    }
    // Another process may know more by now.
    put(workspace.id, (now) =>
      (now?.epoch ?? 0) < workspace.epoch ? knownKeyOf(workspace) : undefined,
    )
    if (before) rekeyed(workspace)
    return null
  }
  return { of, check, remember: (workspace) => put(workspace.id, () => knownKeyOf(workspace)) }
}
