/**
 * The upstream's answer as it arrives: status, sanitised headers, and a body in which credentials are
 * redacted across chunk borders. The deadline counts from byte to byte; a caller that goes away ends
 * the outbound call.
 */
import type { Bytes } from '../../platform/crypto/encoding.ts'
import { Fault } from '../../platform/fault.ts'
import type { BodyAccount } from '../../platform/limits/body_memory.ts'
import type { Deadline } from '../deadline.ts'
import { type AnswerGuard, type BodyKind, OBJECT, PART, type StreamGuard } from '../guard.ts'
import { presentHeaders, type ReceivedHeaders } from '../headers.ts'
import { joinLinks, type LinkBase, linksAmong, rewriteLinks } from '../links.ts'
import { breakingFault } from './breaking.ts'
import { decodedBody, isEncoded } from './decoded_body.ts'
import { hasStrings, LinkRewriter } from './links_in_body.ts'
import { completeHeaders, droppedHeader } from './own_headers.ts'
import { bounded, type Cut, cutBytes, cutOf, cutPieces, dropUntrue, type Part } from './part.ts'
import { type Chunks, readFirst } from './read_first.ts'
import { checkFraming, kindOf } from './response.ts'

/** What became of an answer that took its time, once: `fault` when it broke off. */
export type Ending = { redacted: boolean; fault: Fault | null }

type Options = {
  guard: AnswerGuard
  deadline: Deadline
  requestId: string
  notes?: Record<string, string>
  /** `source` as the caller wrote it, without the values that went out in it. */
  links: { base: LinkBase; source: { authority: string; path: string; search: string } } | null
  /** Whether only the head was asked for. */
  isHead: boolean
  /** Whether parts of it can be had. */
  allowsRanges: boolean
  /** Which part of what came was asked for. */
  part: Part | null
  /** Whether the client takes it for an object, of which it wants the length before. */
  isObject: boolean
  bodies: BodyAccount
  /** With the status that the caller got. */
  onEnd(status: number, ending: Ending): void
}

/**
 * The answer, once the first piece of its body is there: the runtime sends no headers before, and until
 * then a failure can still be answered with its code.
 *
 * @throws Fault `upstream_protocol_error` for framing or a content coding that is not acceptable, and
 * `upstream_*` for a body that breaks off at once
 */
export async function streamAnswer(response: Response, options: Options): Promise<Response> {
  const { guard, deadline, requestId, links, notes, isHead, isObject, allowsRanges, part, onEnd } =
    options
  const received = response.headers.toJSON()
  checkFraming(response.status, received)
  const cut = part || !isHead ? cutOf(part, response.status, received) : null
  const status = cut?.status ?? response.status
  const rewriter = cut || isObject ? null : rewriterFor(received['content-type'], links)
  const begun = await beginBody(response, { ...options, cut })
  const body = rewriter ? await withLinks(begun, rewriter) : begun
  // Before the headers are: what is replaced in them leaves the body as it was.
  const isBodyRedacted = guard.redacted
  const presented = headersOf(received, { guard, links, isHead, cut })
  dropUntrue(presented, {
    isCut: cut !== null,
    isDecoded: isEncoded(received['content-encoding']),
    isRedacted: isBodyRedacted || rewriter !== null,
    allowsRanges,
  })
  if (body.pieces === null && body.whole) presented['content-length'] = String(body.whole.length)
  const end = (fault: Fault | null) => {
    deadline.clear()
    onEnd(status, { redacted: guard.redacted, fault })
  }
  if (body.pieces === null) end(null)
  return new Response(body.pieces ? restOf(body.first, body.pieces, deadline, end) : body.whole, {
    status,
    headers: completeHeaders(presented, requestId, { ...notes, ...droppedHeader(received) }),
  })
}

function headersOf(
  received: ReceivedHeaders,
  { guard, links, isHead, cut }: Pick<Options, 'guard' | 'links' | 'isHead'> & { cut: Cut | null },
): Record<string, string> {
  const shown = presentHeaders(received)
  const presented = guard.redactHeaders(links ? joinLinks(shown) : shown)
  const length = isHead ? received['content-length'] : undefined
  // Of the body that does not come (RFC 9110, section 9.3.2).
  if (length !== undefined) presented['content-length'] = length
  Object.assign(presented, cut?.headers)
  if (!links) return presented
  const { authority, path, search } = links.source
  rewriteLinks(presented, `https://${authority}${path}${search}`, links.base)
  // Reading a link may have joined what stood apart in it.
  return Object.assign(presented, guard.redactHeaders(linksAmong(presented)))
}

/** For a body with JSON strings; null for any other. */
function rewriterFor(
  contentType: string | undefined,
  links: Options['links'],
): LinkRewriter | null {
  if (!links || !hasStrings(kindOf(contentType))) return null
  return new LinkRewriter(new URL(`https://${links.source.authority}`).host, links.base)
}

async function withLinks(begun: Begun, rewriter: LinkRewriter): Promise<Begun> {
  if (begun.pieces === null) {
    const whole = begun.whole && ((await rewriter.whole(begun.whole)) as Bytes)
    return { pieces: null, whole }
  }
  return { pieces: rewriter.pieces(begun.pieces), first: rewriter.push(begun.first) }
}

type Begun =
  | { pieces: AsyncGenerator<Uint8Array, void>; first: Uint8Array }
  | { pieces: null; whole: Bytes | null }

/** A body that is here in one piece, as most are, is not made a stream of again. */
async function beginBody(
  response: Response,
  {
    guard,
    deadline,
    cut,
    isObject,
    bodies,
  }: Pick<Options, 'guard' | 'deadline' | 'isObject' | 'bodies'> & { cut: Cut | null },
): Promise<Begun> {
  try {
    const kind = isObject ? OBJECT : kindOf(response.headers.get('content-type'))
    const body = decodedBody(response)
    if (!body) return NO_BODY
    if (cut) return await beginPart(body, cut, guard, deadline, bodies)
    const chunks = body[Symbol.asyncIterator]()
    const length = declaredLength(response)
    const read = isObject ? await readFirst(chunks, length, deadline, bodies) : chunks
    if (read instanceof Uint8Array) return await wholeOf(read, guard, kind)
    const { value: chunk } = await read.next()
    if (!chunk) return NO_BODY
    // The runtime would give bytes without a type one of its own.
    const mayBeWhole = response.headers.has('content-type')
    if (mayBeWhole && chunk.length === length) return await wholeOf(chunk, guard, kind)
    return await beginPieces(redactedPieces(read, guard.openStream(kind), deadline, chunk))
  } catch (error) {
    throw breakingFault(error, deadline)
  }
}

const NO_BODY: Begun = { pieces: null, whole: null }

async function beginPart(
  body: AsyncIterable<Uint8Array>,
  cut: Cut,
  guard: AnswerGuard,
  deadline: Deadline,
  bodies: BodyAccount,
): Promise<Begun> {
  const read = await readFirst(bounded(body, cut), cut.length, deadline, bodies)
  if (read instanceof Uint8Array) {
    const { whole } = await wholeOf(read, guard, PART)
    return { pieces: null, whole: whole && (cutBytes(whole, cut) as Bytes) }
  }
  const pieces = redactedPieces(read, guard.openStream(PART), deadline)
  return await beginPieces(cutPieces(pieces, cut))
}

async function wholeOf(bytes: Uint8Array, guard: AnswerGuard, kind: BodyKind) {
  if (bytes.length === 0) return { pieces: null, whole: null }
  return { pieces: null, whole: (await guard.redactBody(bytes, kind)) as Bytes }
}

async function beginPieces(pieces: AsyncGenerator<Uint8Array, void>): Promise<Begun> {
  const first = (await pieces.next()).value
  return first ? { pieces, first } : { pieces: null, whole: null }
}

/** Of a body that is not encoded; `NaN` where its length is not declared. */
function declaredLength({ headers }: Response): number {
  if ((headers.get('content-encoding') ?? 'identity') !== 'identity') return Number.NaN
  return Number(headers.get('content-length') ?? Number.NaN)
}

/** What is certain to be free of credentials, as soon as it is; each chunk is a sign of life. */
async function* redactedPieces(
  chunks: Chunks,
  guard: StreamGuard,
  deadline: Deadline,
  first: Uint8Array | null = null,
): AsyncGenerator<Uint8Array, void> {
  try {
    for (
      let chunk = first ?? (await chunks.next()).value;
      chunk;
      chunk = (await chunks.next()).value
    ) {
      deadline.putOff()
      yield* guard.push(chunk)
    }
    const last = guard.flush()
    if (last.length > 0) yield last
  } finally {
    await chunks.return?.()
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
      // Nothing yet, where all of it may begin a link.
      if (first.length > 0) controller.enqueue(first)
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
        const fault = breakingFault(error, deadline)
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
