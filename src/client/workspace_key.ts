/**
 * The known key of a workspace. The server could return an envelope with its own key, or one of an ended epoch, and
 * read everything sealed with it. So a known epoch never changes its key, and earlier epochs are rejected. The first
 * key, and the key of a new epoch, are trusted.
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
  /** Stores a first key, and reports the key of a new epoch. Returns the objection to a key. */
  check(workspace: WorkspaceKey): UntrustedKey | null
  /** Replaces the known key. */
  remember(workspace: WorkspaceKey): void
}

/** The store of the keys. */
export type KnownKeys = {
  of(workspaceId: string): KnownKey | undefined
  /** Calls `change` with the current content. Writes nothing if it returns undefined. */
  put(workspaceId: string, change: (before: KnownKey | undefined) => KnownKey | undefined): void
}

export function createKnownWorkspaceKeys(
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
