/**
 * The upstream's answer as it arrives: status, sanitised headers, and a body with credentials redacted across chunk
 * boundaries. Each byte restarts the deadline. A disconnect of the caller ends the outbound call.
 */

import type { BodyAccount } from '../../core/body_memory.ts'
import type { Bytes } from '../../core/crypto/encoding.ts'
import { Fault } from '../../core/fault.ts'
import type { CallDeadline } from '../deadline.ts'
import type { AnswerGuard } from '../guard.ts'
import { presentHeaders } from '../headers.ts'
import { joinLinks, type LinkBase, linksAmong, rewriteLinks } from '../links.ts'
import { type Begun, beginBody } from './begin_body.ts'
import { toBreakingFault } from './breaking.ts'
import { replaceDiscovery, type SentCredential } from './challenge.ts'
import { isEncoded } from './decoded_body.ts'
import { hasStrings, LinkRewriter } from './links_in_body.ts'
import { completeHeaders, lengthHeader, nameDroppedHeaders } from './own_headers.ts'
import { type Cut, cutOf, dropUntrue, type Part, type ReceivedHeaders } from './part.ts'
import { checkFraming, kindOf } from './response.ts'

/** How a streamed answer ended: `fault` if it broke off. */
export type Ending = { redacted: boolean; fault: Fault | null }

type Options = {
  guard: AnswerGuard
  deadline: CallDeadline
  requestId: string
  notes?: Record<string, string>
  /** `source` as the caller wrote it, without the values that were sent in it. */
  links: { base: LinkBase; source: { authority: string; path: string; search: string } } | null
  credential: SentCredential | null
  /** Whether only the head was requested. */
  isHead: boolean
  /** Whether parts of it can be had. */
  allowsRanges: boolean
  /** The requested part of the answer. */
  part: Part | null
  /** Whether the client treats the answer as an object and needs its length first. */
  isObject: boolean
  bodies: BodyAccount
  /** Called with the status that the caller got. */
  onEnd(status: number, ending: Ending): void
}

/**
 * Returns the answer, once the first piece of its body is available: the runtime sends no headers before, and until
 * then a failure can be answered with its code.
 *
 * @throws Fault `upstream_protocol_error` for unacceptable framing or content coding, and `upstream_*` for a body that
 *   breaks off immediately
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
  // Read it before the headers are redacted: replacements in them do not change the body.
  const isBodyRedacted = guard.redacted
  const presented = headersOf(received, { guard, links, isHead, cut })
  replaceDiscovery(presented, options.credential)
  dropUntrue(presented, {
    isCut: cut !== null,
    isDecoded: isEncoded(received['content-encoding']),
    // The guard has not seen the rest of a body in pieces.
    isRedacted: isBodyRedacted || rewriter !== null || body.pieces !== null,
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
    headers: completeHeaders(presented, requestId, {
      ...notes,
      ...nameDroppedHeaders(received),
      ...lengthHeader(response, received),
    }),
  })
}

function headersOf(
  received: ReceivedHeaders,
  { guard, links, isHead, cut }: Pick<Options, 'guard' | 'links' | 'isHead'> & { cut: Cut | null },
): Record<string, string> {
  const shown = presentHeaders(received)
  const presented = guard.redactHeaders(links ? joinLinks(shown) : shown)
  const length = isHead ? received['content-length'] : undefined
  // The length of the omitted body (RFC 9110, section 9.3.2).
  if (length !== undefined) presented['content-length'] = length
  Object.assign(presented, cut?.headers)
  if (!links) return presented
  const { authority, path, search } = links.source
  rewriteLinks(presented, `https://${authority}${path}${search}`, links.base)
  // Reading a link may have joined separate texts in it.
  return Object.assign(presented, guard.redactHeaders(linksAmong(presented)))
}

/** Returns a rewriter for a body with JSON strings; null for any other. */
function rewriterFor(
  contentType: string | undefined,
  links: Options['links'],
): LinkRewriter | null {
  const kind = kindOf(contentType)
  if (!links || !hasStrings(kind)) return null
  const { host } = new URL(`https://${links.source.authority}`)
  return new LinkRewriter(host, links.base, 'frames' in kind && kind.frames === 'events')
}

async function withLinks(begun: Begun, rewriter: LinkRewriter): Promise<Begun> {
  if (begun.pieces === null) {
    const whole = begun.whole && ((await rewriter.rewriteWhole(begun.whole)) as Bytes)
    return { pieces: null, whole }
  }
  return { pieces: rewriter.pieces(begun.pieces), first: rewriter.push(begun.first) }
}

function restOf(
  first: Uint8Array,
  pieces: AsyncGenerator<Uint8Array, void>,
  deadline: CallDeadline,
  end: (fault: Fault | null) => void,
): ReadableStream<Uint8Array> {
  let ended = false
  const endOnce = (fault: Fault | null) => {
    if (!ended) end(fault)
    ended = true
  }
  return new ReadableStream<Uint8Array>({
    start: (controller) => {
      // Empty if all of it may begin a link.
      if (first.length > 0) controller.enqueue(first)
      // Also ends the response of a caller that never reads.
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
        const fault = toBreakingFault(error, deadline)
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
