/**
 * The two wrapped copies of a private key, under the outer layer (protocol 3.4): one opens with what
 * the password derives, the other with the recovery key. The server can open neither.
 */
import { toBase64 } from '../../core/crypto/encoding.ts'
import type { OuterLayer } from '../../core/crypto/outer_layer.ts'
import { Fault } from '../../core/fault.ts'

type WrappedKeyColumn = 'users.encrypted_private_key' | 'users.recovery_private_key'

/** The stored form of a wrapped key in base64. */
export function sealWrappedKey(
  outer: OuterLayer,
  column: WrappedKeyColumn,
  userId: string,
  wrapped: string,
): Promise<Uint8Array> {
  return outer.seal(column, userId, [{ uuid: userId }], Uint8Array.fromBase64(wrapped))
}

/** The wrapped key as its owner sent it. */
export async function openWrappedKey(
  outer: OuterLayer,
  column: WrappedKeyColumn,
  userId: string,
  sealed: Uint8Array,
): Promise<string> {
  const wrapped = await outer.open(column, userId, [{ uuid: userId }], sealed)
  if (wrapped) return toBase64(wrapped)
  throw new Fault('internal_error', { cause: new Error(`a ${column} cannot be decrypted`) })
}
