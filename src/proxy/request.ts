/**
 * Converts the program's request for the resolver: without headers between program and proxy, and with its body whole
 * if it may need placeholders.
 */

import { type BodyAccount, type BodyMemory, BodyMeter } from '../core/body_memory.ts'
import { buildFieldFault, Fault } from '../core/fault.ts'
import { toCanonicalHost } from '../core/net/domain.ts'
import { isReadForPolicies, isTypeOpen } from '../core/policy/override_body.ts'
import { readCapped } from '../http/capped_body.ts'
import { BODY_LIMIT, type CallBody, contentTypeOf } from '../outbound/call.ts'
import { isBodyAnnounced } from '../outbound/headers.ts'
import { outboundMethods } from '../resolver/contract.ts'
import { PROXY_OWNER } from './settings.ts'

/** Returns `host` or `host:port` in the one form for comparisons; `null` if the text names no host. */
export function toCanonicalAuthority(text: string): string | null {
  const [, name = '', port] = /^([^:]+)(?::(\d{1,5}))?$/.exec(text) ?? []
  const host = toCanonicalHost(name)
  if (host === null) return null
  return port === undefined || port === '443' ? host : `${host}:${port}`
}

/** @throws Fault as forward mode: `method_not_allowed`, and `validation_error` for a GET or HEAD with a body */
export function checkMethod(request: Request): string {
  const { method } = request
  if (!outboundMethods.some((known) => known === method)) {
    throw new Fault('method_not_allowed', { headers: { allow: outboundMethods.join(', ') } })
  }
  // The runtime drops such a body, so only the headers reveal it.
  if ((method === 'GET' || method === 'HEAD') && isBodyAnnounced(request.headers)) {
    throw buildFieldFault('body', 'is not possible with GET or HEAD')
  }
  return method
}

/**
 * The body as a stream. It is buffered if `isNeeded`, or if `isScanned` and it may be JSON, a form or GraphQL.
 *
 * @throws Fault `payload_too_large` if it must be buffered but is too large
 */
export async function bodyOf(
  request: Request,
  headers: Record<string, string>,
  { isScanned, isNeeded, bodies }: { isScanned: boolean; isNeeded: boolean; bodies: BodyAccount },
): Promise<CallBody> {
  const length = readDeclaredLength(request)
  if (request.body === null || length === 0) return null
  const type = contentTypeOf(headers)
  // A long upload without a type streams; a policy that limits methods refuses it.
  const isUpload = isTypeOpen(type) && (length ?? 0) > BODY_LIMIT
  const isSought = isScanned && !isUpload && isReadForPolicies(type)
  if (!isSought && !isNeeded) {
    return { stream: request.body, length }
  }
  const message = `The request body may have at most ${BODY_LIMIT} bytes, unless it streams.`
  const buildTooLargeFault = () => new Fault('payload_too_large', { message })
  if ((length ?? 0) > BODY_LIMIT) throw buildTooLargeFault()
  return {
    bytes: await readCapped(request.body, BODY_LIMIT, buildTooLargeFault, bodies.expect(length)),
  }
}

/**
 * Reserves memory for a response with a declared length that is short enough to buffer. Returns `null` for any other
 * one, and if bodies use too much memory: it must be streamed.
 */
export function holdShort({ headers, body }: Response, bodies: BodyMemory): BodyAccount | null {
  const length = Number(headers.get('content-length') ?? Number.NaN)
  if (body === null || !headers.has('content-type') || !(length <= BODY_LIMIT)) return null
  const account = bodies.open(PROXY_OWNER)
  return new BodyMeter(account).mayRead(length) ? account : null
}

/** Whether a request's body has a known length within the buffer limit. It is then searched, at least for a warning. */
export function isDeclaredShort(request: Request): boolean {
  const length = readDeclaredLength(request)
  return length !== null && length <= BODY_LIMIT
}

/** Reads a body whole: the runtime sends no length of a stream. Releases its count in `held`. */
export async function wholeOf(
  response: Response,
  held: BodyAccount,
  headers: ConstructorParameters<typeof Headers>[0] = response.headers,
  change: (bytes: Uint8Array<ArrayBuffer>) => Uint8Array<ArrayBuffer> = (bytes) => bytes,
): Promise<Response> {
  const bytes = change(await response.bytes().finally(() => held.release()))
  const known = new Headers(headers)
  known.set('content-length', String(bytes.length))
  return new Response(bytes, { status: response.status, headers: known })
}

/** `null` for a chunked body, and without a body. */
export function readDeclaredLength({ headers }: Request): number | null {
  const declared = headers.get('content-length')
  return declared === null ? null : Number(declared)
}
