/**
 * The upstream's answer as it arrives: status, sanitised headers, and a body in which credentials are
 * redacted across chunk borders. The deadline counts from byte to byte; a caller that goes away ends
 * the outbound call.
 */
import { pipeline, Readable, type Transform } from 'node:stream'
import zlib from 'node:zlib'
import { Fault } from '../platform/fault.ts'
import { commonHeaders } from '../platform/http/reply.ts'
import { causeOf, upstreamFault } from './connection/fetch.ts'
import type { Deadline } from './deadline.ts'
import type { AnswerGuard, StreamGuard } from './guard.ts'
import { presentHeaders } from './headers.ts'
import { type LinkBase, rewriteLinks } from './links.ts'
import { checkFraming, kindOf } from './response.ts'

/** What became of an answer that took its time, once: `fault` when it broke off. */
export type Ending = { redacted: boolean; fault: Fault | null }

type Options = {
  guard: AnswerGuard
  deadline: Deadline
  requestId: string
  /** `source` as the caller wrote it, without the values that went out in it. */
  links: { base: LinkBase; source: { authority: string; path: string; search: string } } | null
  /** Whether only the head was asked for. */
  isHead: boolean
  onEnd(ending: Ending): void
}

/** These speak about the origin that they come from, which for the caller is the resolver. */
const OF_THE_ORIGIN = ['alt-svc', 'clear-site-data', 'strict-transport-security']

/**
 * The answer, once the first piece of its body is there: the runtime sends no headers before, and until
 * then a failure can still be answered with its code.
 *
 * @throws Fault `upstream_protocol_error` for framing or a content coding that is not acceptable, and
 * `upstream_*` for a body that breaks off at once
 */
export async function streamAnswer(
  response: Response,
  { guard, deadline, requestId, links, isHead, onEnd }: Options,
): Promise<Response> {
  checkFraming(response)
  const { status } = response
  const presented = guard.redactHeaders(presentHeaders(response.headers))
  for (const name of OF_THE_ORIGIN) delete presented[name]
  const length = isHead ? response.headers.get('content-length') : null
  // Of the body that does not come (RFC 9110, section 9.3.2).
  if (length !== null) presented['content-length'] = length
  if (links) {
    const { authority, path, search } = links.source
    rewriteLinks(presented, `https://${authority}${path}${search}`, links.base)
  }
  const pieces = redactedPieces(decodedBody(response), guard.openStream(kindOf(response)), deadline)
  const first = await firstOf(pieces, deadline)
  const end = (fault: Fault | null) => {
    deadline.clear()
    onEnd({ redacted: guard.redacted, fault })
  }
  if (first === null) end(null)
  return new Response(first && restOf(first, pieces, deadline, end), {
    status,
    headers: completeHeaders(presented, requestId),
  })
}

/** SDKs report the upstream's `x-request-id`; ours, the id of the audit record, has a name besides. */
function completeHeaders(
  presented: Record<string, string>,
  requestId: string,
): Record<string, string> {
  const ours = commonHeaders(requestId)
  const theirs = presented['x-request-id']
  return {
    ...presented,
    ...ours,
    ...(theirs === undefined ? {} : { 'x-request-id': theirs }),
    'x-service-request-id': requestId,
  }
}

/** What is certain to be free of credentials, as soon as it is; each chunk is a sign of life. */
async function* redactedPieces(
  body: AsyncIterable<Uint8Array> | null,
  guard: StreamGuard,
  deadline: Deadline,
): AsyncGenerator<Uint8Array, void> {
  for await (const chunk of body ?? []) {
    deadline.putOff()
    yield* guard.push(chunk)
  }
  const last = guard.flush()
  if (last.length > 0) yield last
}

/** `null` for an empty body. */
async function firstOf(
  pieces: AsyncGenerator<Uint8Array, void>,
  deadline: Deadline,
): Promise<Uint8Array | null> {
  try {
    return (await pieces.next()).value ?? null
  } catch (error) {
    throw faultOf(error, deadline)
  }
}

function restOf(
  first: Uint8Array,
  pieces: AsyncGenerator<Uint8Array, void>,
  deadline: Deadline,
  end: (fault: Fault | null) => void,
): ReadableStream<Uint8Array> {
  let ended = false
  const endOnce = (fault: Fault | null) => {
    if (!ended) end(fault)
    ended = true
  }
  return new ReadableStream<Uint8Array>({
    start: (controller) => {
      controller.enqueue(first)
      // Also for a caller that reads nothing, and so never asks for what comes next.
      deadline.signal.addEventListener('abort', () => {
        if (!deadline.refusal) return
        endOnce(deadline.refusal)
        controller.error(new Fault(deadline.refusal.code))
        void pieces.return().catch(() => {})
      })
    },
    pull: async (controller) => {
      try {
        const { value } = await pieces.next()
        if (value) return controller.enqueue(value)
        endOnce(null)
        controller.close()
      } catch (error) {
        const fault = faultOf(error, deadline)
        endOnce(deadline.isUnwanted ? null : fault)
        // Without its cause: the runtime's messages quote the URL.
        controller.error(new Fault(fault.code))
      }
    },
    cancel: async () => {
      endOnce(null)
      deadline.abort()
      await pieces.return().catch(() => {})
    },
  })
}

function faultOf(error: unknown, deadline: Deadline): Fault {
  if (deadline.refusal) return deadline.refusal
  const isLate =
    deadline.signal.aborted || (error instanceof DOMException && error.name === 'TimeoutError')
  const cause = causeOf(error)
  if (isLate) return new Fault('upstream_timeout', { cause })
  if (/^Z_|^ERR_/.test(cause.code)) return new Fault('upstream_protocol_error', { cause })
  return upstreamFault(error)
}

const decoders: Record<string, () => Transform> = {
  gzip: () => zlib.createGunzip(),
  'x-gzip': () => zlib.createGunzip(),
  deflate: () => zlib.createInflate(),
  br: () => zlib.createBrotliDecompress(),
  zstd: () => zlib.createZstdDecompress(),
}

/** Decoded piece by piece: memory stays bounded whatever the pieces expand to. */
function decodedBody({ body, headers }: Response): AsyncIterable<Uint8Array> | null {
  const coding = headers.get('content-encoding')?.trim().toLowerCase() ?? 'identity'
  if (body === null || coding === 'identity' || coding === '') return body
  const decoder = Object.hasOwn(decoders, coding) ? decoders[coding] : undefined
  if (!decoder) throw new Fault('upstream_protocol_error')
  // What goes wrong on either side comes out at the end that is read.
  return pipeline(Readable.fromWeb(body as never), decoder(), () => {})
}
