/**
 * The program's request in the resolver's form: without what is between the program and the proxy,
 * and with its body whole where placeholders may have to be put into it.
 */

import { BODY_LIMIT, type CallBody, contentTypeOf } from '../outbound/call.ts'
import { isBodyAnnounced } from '../outbound/headers.ts'
import { Fault } from '../platform/fault.ts'
import { readCapped } from '../platform/http/capped_body.ts'
import type { BodyAccount } from '../platform/limits/body_memory.ts'
import { canonicalHost } from '../platform/net/domain.ts'
import { isTypeOpen, overridableKinds } from '../platform/policy_check/override_body.ts'
import { outboundMethods } from '../resolver/contract.ts'

/** `host` or `host:port` in the one form in which they are compared; `null` for what names no host. */
export function canonicalAuthority(text: string): string | null {
  const [, name = '', port] = /^([^:]+)(?::(\d{1,5}))?$/.exec(text) ?? []
  const host = canonicalHost(name)
  if (host === null) return null
  return port === undefined || port === '443' ? host : `${host}:${port}`
}

/** @throws Fault `validation_error` for a method that is not passed on, or a GET or HEAD with a body */
export function checkMethod(request: Request): string {
  const { method } = request
  if (!outboundMethods.some((known) => known === method))
    throw refused('method', 'is not passed on')
  // The runtime drops such a body, so that only the headers tell of it.
  if ((method === 'GET' || method === 'HEAD') && isBodyAnnounced(request.headers)) {
    throw refused('body', 'is not possible with GET or HEAD')
  }
  return method
}

/**
 * The body as it arrives, or whole if it is signed, and if `isScanned` and it is, or may be, JSON or a form.
 *
 * @throws Fault `payload_too_large` for one that would have to be held whole and is too large for it
 */
export async function bodyOf(
  request: Request,
  headers: Record<string, string>,
  { isScanned, isSigned, bodies }: { isScanned: boolean; isSigned: boolean; bodies: BodyAccount },
): Promise<CallBody> {
  const length = declaredLength(request)
  if (request.body === null || length === 0) return null
  const type = contentTypeOf(headers)
  // A long upload without a type streams; a policy that limits methods refuses it.
  const isUpload = isTypeOpen(type) && (length ?? 0) > BODY_LIMIT
  const isSought = isScanned && !isUpload && overridableKinds(type).length > 0
  if (!isSought && !isSigned) {
    return { stream: request.body, length }
  }
  const tooLarge = () => new Fault('payload_too_large')
  if ((length ?? 0) > BODY_LIMIT) throw tooLarge()
  return { bytes: await readCapped(request.body, BODY_LIMIT, tooLarge, bodies.expect(length)) }
}

/** Whether an answer is told how long, and no longer than what is held whole. */
export function isShort({ headers, body }: Response): boolean {
  const length = Number(headers.get('content-length') ?? Number.NaN)
  return body !== null && headers.has('content-type') && length <= BODY_LIMIT
}

/** Whether a request's body is known to be no longer than what is held whole: it is searched, if only for a notice. */
export function isDeclaredShort(request: Request): boolean {
  const length = declaredLength(request)
  return length !== null && length <= BODY_LIMIT
}

/** The runtime tells the length of bytes, and of no stream. */
export async function wholeOf(
  response: Response,
  headers: ConstructorParameters<typeof Headers>[0] = response.headers,
  change: (bytes: Uint8Array<ArrayBuffer>) => Uint8Array<ArrayBuffer> = (bytes) => bytes,
): Promise<Response> {
  const bytes = change(await response.bytes())
  const known = new Headers(headers)
  known.set('content-length', String(bytes.length))
  return new Response(bytes, { status: response.status, headers: known })
}

function declaredLength({ headers }: Request): number | null {
  const declared = headers.get('content-length')
  return declared === null ? null : Number(declared)
}

function refused(path: string, message: string): Fault {
  return new Fault('validation_error', { fields: [{ path, message }] })
}
