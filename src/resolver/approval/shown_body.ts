import { MAX_SHOWN_BODY_BYTES } from '../../core/crypto/approval/details.ts'
import { fromUtf8 } from '../../core/crypto/encoding.ts'

/** A body that a member can read: UTF-8 of at most 64 KiB, else null. */
export function toShownBody(body: Uint8Array): string | null {
  return body.length <= MAX_SHOWN_BODY_BYTES ? fromUtf8(body) : null
}
