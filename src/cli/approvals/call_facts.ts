/** Facts of a call, from its verified details alone. The columns of its row are not signed. */
import type { VerifiedRequest } from '../../client/approvals/verify.ts'
import { toBase64Url, utf8 } from '../../core/crypto/encoding.ts'
import { sha256 } from '../../core/crypto/primitives.ts'

const NO_BYTES = toBase64Url(sha256(new Uint8Array()))
const MEDIA_TYPE = /^[\w.+-]{1,60}\/[\w.+-]{1,60}(?=\s*(?:;|$))/
/** Characters of a path in a question. */
const MAX_PATH = 60

export type CallFacts = {
  method: string
  host: string
  /** Null where the size is not verified: the body is not covered, not text, or over 64 KiB. */
  body_bytes: number | null
  body_type: string | null
}

export function callFacts({ call, body }: VerifiedRequest): CallFacts {
  const [, type = ''] = call.headers.find(([name]) => name === 'content-type') ?? []
  return {
    method: call.method,
    host: new URL(call.target_url).host,
    body_bytes: bytesOf(call.body_sha256, body),
    body_type: MEDIA_TYPE.exec(type.trim())?.[0] ?? null,
  }
}

function bytesOf(hash: string | null, body: string | null): number | null {
  if (hash === NO_BYTES) return 0
  return body === null ? null : utf8(body).length
}

/** The size of a body in a sentence or a row. The row of the request has the only size of a body that is not shown. */
export function bodySize(request: VerifiedRequest): string {
  const { body_bytes: verified } = callFacts(request)
  if (verified === 0) return 'no body'
  if (verified !== null) return `${verified.toLocaleString('en')} bytes`
  const claimed = request.approval.body_bytes
  return claimed === null || claimed === 0
    ? 'unverified size'
    : `about ${claimed.toLocaleString('en')} bytes, unverified`
}

/** The question about one call. It repeats the call, because a long request scrolls off the screen. */
export function allowQuestion(request: VerifiedRequest): string {
  const { method, host } = callFacts(request)
  const { pathname } = new URL(request.call.target_url)
  const path = pathname.length > MAX_PATH ? `${pathname.slice(0, MAX_PATH)}…` : pathname
  return `Allow ${method} ${host}${path} with ${bodyPhrase(request)}?`
}

function bodyPhrase(request: VerifiedRequest): string {
  if (request.call.body_sha256 === null) return 'messages that cannot be shown in advance'
  const size = bodySize(request)
  if (size === 'no body') return size
  return request.body === null ? `a body that is not shown (${size})` : `a body of ${size}`
}
