/**
 * A commitment to a workspace key: anyone with the key can check it, and it reveals nothing of the key. With it, a
 * client remembers a workspace's key of an epoch without keeping the key.
 */
import { concat, toBase64, u32be, utf8, uuidToBytes } from './encoding.ts'
import { hkdf } from './primitives.ts'

/** b64 of 32 bytes; another for each key, workspace and epoch. */
export function keyCommitment(workspaceId: string, epoch: number, key: Uint8Array): string {
  const info = concat(utf8('cloakroom/v2/key-commitment'), u32be(epoch))
  return toBase64(hkdf(key, uuidToBytes(workspaceId), info))
}
