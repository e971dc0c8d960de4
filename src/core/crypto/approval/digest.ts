/**
 * The digest of a call (protocol 14.2): equal calls of a token have equal digests, and only a holder of the environment key
 * can compute one, so the database cannot test guesses of a request's content.
 */
import canonicalize from 'canonicalize'
import { lp, toBase64Url, utf8 } from '../encoding.ts'
import { hkdf, hmac } from '../primitives.ts'
import type { ApprovalCall } from './call.ts'

const NO_SALT = new Uint8Array()

/** `environmentKey` is the key of the first secret's environment. Throws for text that JCS cannot express. */
export function callDigest(environmentKey: Uint8Array, call: ApprovalCall): string {
  const text = canonicalize(call)
  if (text === undefined) throw new TypeError('the call is not JSON')
  const key = hkdf(environmentKey, NO_SALT, lp('cloakroom/v3/approval-digest'))
  return toBase64Url(hmac(key, utf8(text)))
}
