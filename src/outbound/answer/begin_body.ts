/** Reads a whole response body if it is short or must be searched first, otherwise its first chunk. */

import type { BodyAccount } from '../../core/body_memory.ts'
import type { Bytes } from '../../core/crypto/encoding.ts'
import type { CallDeadline } from '../deadline.ts'
import { type AnswerGuard, type GuardedBodyKind, OBJECT, PART, type StreamGuard } from '../guard.ts'
import { toBreakingFault } from './breaking.ts'
import { decodeBody } from './decoded_body.ts'
import { boundToPart, type Cut, cutBytes, cutPieces, describesBytes } from './part.ts'
import { type Chunks, readFirst } from './read_first.ts'
import { kindOf } from './response.ts'

type Options = {
  guard: AnswerGuard
  deadline: CallDeadline
  /** The part of the answer that the caller gets. */
  cut: Cut | null
  /** Whether the client treats the answer as an object and needs its length first. */
  isObject: boolean
  bodies: BodyAccount
}

/** A body with its first piece, or the whole body; `null` without a body. */
export type Begun =
  | { pieces: AsyncGenerator<Uint8Array, void>; first: Uint8Array }
  | { pieces: null; whole: Bytes | null }

/**
 * Waits for the first chunk. A complete body does not become a stream again.
 *
 * @throws Fault `upstream_*` for a body that breaks off
 */
export async function beginBody(
  response: Response,
  { guard, deadline, cut, isObject, bodies }: Options,
): Promise<Begun> {
  try {
    const kind = isObject ? OBJECT : kindOf(response.headers.get('content-type'))
    const body = decodeBody(response)
    if (!body) return NO_BODY
    if (cut) return await beginPart(body, cut, guard, deadline, bodies)
    const chunks = body[Symbol.asyncIterator]()
    const length = readDeclaredLength(response)
    // The runtime would add a content type to bytes without one.
    const mayBeWhole = response.headers.has('content-type')
    // Digests and ETag are valid only if the whole body is searched before the headers are sent.
    const isFirst = isObject || (mayBeWhole && describesBytes(response.headers.toJSON()))
    const read = isFirst ? await readFirst(chunks, length, deadline, bodies) : chunks
    if (read instanceof Uint8Array) return await wholeOf(read, guard, kind)
    const { value: chunk } = await read.next()
    if (!chunk) return NO_BODY
    if (mayBeWhole && chunk.length === length) return await wholeOf(chunk, guard, kind)
    return await beginPieces(redactPieces(read, guard.openStream(kind), deadline, chunk))
  } catch (error) {
    throw toBreakingFault(error, deadline)
  }
}

const NO_BODY: Begun = { pieces: null, whole: null }

async function beginPart(
  body: AsyncIterable<Uint8Array>,
  cut: Cut,
  guard: AnswerGuard,
  deadline: CallDeadline,
  bodies: BodyAccount,
): Promise<Begun> {
  const read = await readFirst(boundToPart(body, cut), cut.length, deadline, bodies)
  if (read instanceof Uint8Array) {
    const { whole } = await wholeOf(read, guard, PART)
    return { pieces: null, whole: whole && (cutBytes(whole, cut) as Bytes) }
  }
  const pieces = redactPieces(read, guard.openStream(PART), deadline)
  return await beginPieces(cutPieces(pieces, cut))
}

async function wholeOf(bytes: Uint8Array, guard: AnswerGuard, kind: GuardedBodyKind) {
  if (bytes.length === 0) return { pieces: null, whole: null }
  return { pieces: null, whole: (await guard.redactBody(bytes, kind)) as Bytes }
}

async function beginPieces(pieces: AsyncGenerator<Uint8Array, void>): Promise<Begun> {
  const first = (await pieces.next()).value
  return first ? { pieces, first } : { pieces: null, whole: null }
}

/** Returns the declared length of an unencoded body; `NaN` if unknown. */
function readDeclaredLength({ headers }: Response): number {
  if ((headers.get('content-encoding') ?? 'identity') !== 'identity') return Number.NaN
  return Number(headers.get('content-length') ?? Number.NaN)
}

/** Yields bytes as soon as they are certain to be free of credentials. Each chunk extends the deadline. */
async function* redactPieces(
  chunks: Chunks,
  guard: StreamGuard,
  deadline: CallDeadline,
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
