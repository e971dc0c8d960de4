/**
 * Step 11 of the resolver: bounds and checks the response. `fetch` accepts answers that must not be passed on; those
 * are refused here.
 */
import { promisify } from 'node:util'
import zlib from 'node:zlib'
import type { BodyAccount } from '../../core/body_memory.ts'
import { fromUtf8 } from '../../core/crypto/encoding.ts'
import { Fault } from '../../core/fault.ts'
import { readCapped } from '../../http/capped_body.ts'
import type { Frames } from '../../leak_guard/index.ts'
import { BODY_LIMIT } from '../call.ts'
import { causeOf, upstreamFault } from '../connection/fetch.ts'
import { type AnswerGuard, type GuardedBodyKind, PART } from '../guard.ts'
import { listDroppedHeaders, presentHeaders } from '../headers.ts'
import type { OutboundRequest } from '../outbound_request.ts'
import { isEncoded, isZlib } from './decoded_body.ts'
import { isLengthUnproven } from './own_headers.ts'
import { boundToPart, type Cut, cutBytes, cutOf, dropUntrue, type ReceivedHeaders } from './part.ts'

export type SanitisedAnswer = {
  status_code: number
  headers: Record<string, string>
  body: string
  body_encoding?: 'base64'
  redacted: boolean
  length?: 'unproven'
  dropped_headers?: string[]
}

const MAX_HEADER_BYTES = 65_536

/** Content codings that a body may have (RFC 9110, section 8.4.1), with a limit on decoded bytes. */
const decoders: Record<
  string,
  (bytes: Uint8Array, options: { maxOutputLength: number }) => Promise<Uint8Array>
> = {
  gzip: promisify(zlib.gunzip),
  'x-gzip': promisify(zlib.gunzip),
  deflate: (bytes, options) =>
    promisify(isZlib(bytes) ? zlib.inflate : zlib.inflateRaw)(bytes, options),
  br: promisify(zlib.brotliDecompress),
  zstd: promisify(zlib.zstdDecompress),
}

/**
 * Reads, decodes and sanitises a response.
 *
 * @throws Fault `upstream_protocol_error`, `upstream_too_large`, `upstream_timeout`, and `rate_limited` or
 *   `unavailable` if bodies hold too much memory
 */
export async function readAnswer(
  response: Response,
  guard: AnswerGuard,
  deadline: AbortSignal,
  { part, allowsRanges }: Pick<OutboundRequest, 'part' | 'allowsRanges'>,
  bodies: BodyAccount,
): Promise<SanitisedAnswer> {
  const { status } = response
  const received = response.headers.toJSON()
  checkFraming(status, received)
  const cut = part || hasBody(response) ? cutOf(part, status, received) : null
  const bytes = await readBody(response, received, deadline, cut, bodies)
  const coding = received['content-encoding']
  const decoded = coding === undefined ? bytes : await decode(coding, bytes, bodies)
  const redacted = guard.redactBody(decoded, cut ? PART : kindOf(received['content-type']))
  const whole = redacted instanceof Promise ? await redacted : redacted
  const shown = presentHeaders(received)
  dropUntrue(shown, {
    isCut: cut !== null,
    isDecoded: isEncoded(coding),
    isRedacted: guard.redacted,
    allowsRanges,
  })
  const headers = guard.redactHeaders(Object.assign(shown, cut?.headers))
  const body = present(cut ? cutBytes(whole, cut) : whole)
  const dropped = listDroppedHeaders(received)
  return {
    status_code: cut?.status ?? status,
    headers,
    ...body,
    redacted: guard.redacted,
    ...(isLengthUnproven(response, received) ? { length: 'unproven' as const } : {}),
    ...(dropped.length === 0 ? {} : { dropped_headers: dropped }),
  }
}

/** Returns the kind of a body with this content type. */
export function kindOf(contentType: string | null | undefined): GuardedBodyKind {
  if (contentType === 'application/json') return JSON_KIND
  const type = contentType?.split(';')[0]?.trim().toLowerCase() ?? ''
  const isJson = /^application\/([a-z0-9.+-]+\+)?json\b/.test(type)
  return { isJson, frames: FRAMES.find(([types]) => types.test(type))?.[1] }
}

/** Separators of answers by content type, so that each part can be passed on immediately. */
const FRAMES: readonly (readonly [RegExp, Frames])[] = [
  [/^text\/event-stream$/, 'events'],
  [/^(application|text)\/(x-)?(nd-?json|jsonl|jsonlines|json-?lines)$/, 'lines'],
  [/^application\/([a-z0-9.+-]+\+)?json(-seq)?$/, 'json'],
]

const JSON_KIND: GuardedBodyKind = { isJson: true, frames: 'json' }

/** Rejects answers that `fetch` accepts but that must not be passed on. @throws Fault `upstream_protocol_error` */
export function checkFraming(status: number, received: ReceivedHeaders): void {
  const length = received['content-length']
  const coding = received['transfer-encoding']
  const broken =
    status < 200 ||
    status > 599 ||
    (length !== undefined && (coding !== undefined || !/^\d+$/.test(length))) ||
    !/^(chunked)?$/i.test(coding ?? '') ||
    // Checksums are inside the body (Azure). For an upload, 201 or 202, the header confirms that they were read.
    (received['x-ms-structured-body'] !== undefined && status !== 201 && status !== 202) ||
    sizeOf(received) > MAX_HEADER_BYTES
  if (broken) throw new Fault('upstream_protocol_error')
}

/** Returns the size on the wire, with the separators between names, values and lines. */
function sizeOf(received: ReceivedHeaders): number {
  let size = 0
  for (const name in received) {
    if (name !== 'set-cookie') size += name.length + (received[name]?.length ?? 0) + 4
  }
  for (const cookie of received['set-cookie'] ?? [])
    size += 'set-cookie: \r\n'.length + cookie.length
  return size
}

async function readBody(
  response: Response,
  { 'content-length': declared }: ReceivedHeaders,
  deadline: AbortSignal,
  cut: Cut | null,
  bodies: BodyAccount,
): Promise<Uint8Array> {
  if (Number(declared ?? 0) > BODY_LIMIT && hasBody(response)) {
    await response.body?.cancel()
    throw new Fault('upstream_too_large')
  }
  try {
    const meter = bodies.expect(declared === undefined ? null : Number(declared))
    return declared !== undefined
      ? await response.bytes()
      : await readCapped(bodyOf(response, cut), BODY_LIMIT, buildTooLargeFault, meter)
  } catch (error) {
    throw deadline.aborted
      ? new Fault('upstream_timeout', { cause: causeOf(error) })
      : upstreamFault(error)
  }
}

function buildTooLargeFault(): Fault {
  return new Fault('upstream_too_large')
}

function bodyOf({ body }: Response, cut: Cut | null): AsyncIterable<Uint8Array> | null {
  return body && cut ? boundToPart(body, cut) : body
}

/** Whether the response has a body. The answer to HEAD has the length of an omitted body. */
function hasBody(response: Response): boolean {
  return response.body !== null
}

async function decode(
  encoding: string | null,
  bytes: Uint8Array,
  bodies: BodyAccount,
): Promise<Uint8Array> {
  const coding = encoding?.trim().toLowerCase() ?? 'identity'
  if (coding === 'identity' || coding === '' || bytes.length === 0) return bytes
  const decoder = Object.hasOwn(decoders, coding) ? decoders[coding] : undefined
  if (!decoder) throw new Fault('upstream_protocol_error')
  // Its decoded length is unknown in advance.
  const meter = bodies.expect(BODY_LIMIT)
  try {
    const decoded = await decoder(bytes, { maxOutputLength: BODY_LIMIT })
    meter.hold(decoded.length)
    return decoded
  } catch (error) {
    const isTooLarge =
      error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE'
    throw new Fault(isTooLarge ? 'upstream_too_large' : 'upstream_protocol_error', { cause: error })
  }
}

function present(bytes: Uint8Array): { body: string; body_encoding?: 'base64' } {
  const text = fromUtf8(bytes)
  return text === null ? { body: bytes.toBase64(), body_encoding: 'base64' } : { body: text }
}
