/**
 * The details that an approver sees (protocol 14.2): `0x01 || nonce12 || ciphertext || tag`, under a key that members
 * and the resolver derive from the environment key. The server stores them and cannot read them at rest.
 */
import canonicalize from 'canonicalize'
import { z } from 'zod'
import { type Bytes, concat, fromUtf8, lp, utf8, uuidToBytes } from '../encoding.ts'
import { hkdf, NONCE_BYTES, openGcm, sealGcm, TAG_BYTES } from '../primitives.ts'
import { generateRandomBytes } from '../random.ts'
import { approvalCall } from './call.ts'

const VERSION = 1
/** Bytes of UTF-8 up to which a body is shown. */
export const MAX_SHOWN_BODY_BYTES = 65_536
/** Characters of an agent's reason. */
export const MAX_REASON = 300

const approvalDetails = z.strictObject({
  call: approvalCall,
  body: z
    .string()
    .max(MAX_SHOWN_BODY_BYTES)
    .refine((text) => utf8(text).length <= MAX_SHOWN_BODY_BYTES)
    .nullable(),
  reason: z
    .string()
    .refine((text) => [...text].length <= MAX_REASON)
    .nullable(),
})

/** `body` is null if it is not UTF-8 or too long. */
export type ApprovalDetails = z.output<typeof approvalDetails>

/** The nonce is random unless a test vector gives one. Throws for text that JCS cannot express. */
export function sealDetails(
  environmentKey: Uint8Array,
  workspaceId: string,
  approvalId: string,
  details: ApprovalDetails,
  nonce: Uint8Array = generateRandomBytes(NONCE_BYTES),
): Bytes {
  const text = canonicalize(details)
  if (text === undefined) throw new TypeError('the details are not JSON')
  const data = placeData(workspaceId, approvalId)
  const sealed = sealGcm(detailsKey(environmentKey, approvalId), nonce, data, utf8(text))
  return concat(Uint8Array.of(VERSION), nonce, sealed)
}

/** The details, or `null` for bytes that do not open for this approval or are not canonical details. */
export function openDetails(
  environmentKey: Uint8Array,
  workspaceId: string,
  approvalId: string,
  sealed: Uint8Array,
): ApprovalDetails | null {
  const border = 1 + NONCE_BYTES
  if (sealed.length < border + TAG_BYTES || sealed[0] !== VERSION) return null
  const data = placeData(workspaceId, approvalId)
  const key = detailsKey(environmentKey, approvalId)
  const bytes = openGcm(key, sealed.subarray(1, border), data, sealed.subarray(border))
  const text = bytes && fromUtf8(bytes)
  return text === null ? null : readDetails(text)
}

function readDetails(text: string): ApprovalDetails | null {
  try {
    const details = approvalDetails.parse(JSON.parse(text))
    return canonicalize(details) === text ? details : null
  } catch {
    return null
  }
}

function detailsKey(environmentKey: Uint8Array, approvalId: string): Bytes {
  return hkdf(environmentKey, uuidToBytes(approvalId), lp('cloakroom/v3/approval-key'))
}

function placeData(workspaceId: string, approvalId: string): Bytes {
  return lp('cloakroom/v3/approval-details', uuidToBytes(workspaceId), uuidToBytes(approvalId))
}
