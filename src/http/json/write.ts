/**
 * Answers in JSON. A large one is written piece by piece, in time slices and as fast as it is taken:
 * megabytes in one go would keep everybody else waiting (protocol 6.2).
 */
import { TimeSlice } from '../../core/async/time_slice.ts'

/** Characters from which on an answer is large, and of one piece of it. */
const LARGE = 262_144
const PIECE = 65_536
/** Lists and objects within others that are written entry by entry. */
const DEPTH = 3

/**
 * `value` is what a contract's schema has shaped: plain data. `onPiece` is called for each piece. `onEnd`
 * is called once, after the last piece or when the reader disconnects.
 */
export function jsonResponse(
  value: unknown,
  init: ResponseInit,
  onPiece: () => void = () => {},
  onEnd: () => void = () => {},
): Response {
  if (lengthOf(value, DEPTH) < LARGE) {
    onEnd()
    return Response.json(value, init)
  }
  const headers = new Headers(init.headers)
  headers.set('content-type', 'application/json;charset=utf-8')
  return new Response(streamOf(gatherParts(partsOf(value, DEPTH)), onPiece, onEnd), {
    ...init,
    headers,
  })
}

/** An estimate of the size, which counts texts and ignores deeply nested values. */
function lengthOf(value: unknown, depth: number): number {
  if (typeof value === 'string') return value.length
  if (!isObject(value) || depth === 0) return 8
  return Array.isArray(value) ? lengthOfList(value, depth) : lengthOfObject(value, depth)
}

/** With an index: `for … in` would make a text of each. */
function lengthOfList(list: readonly unknown[], depth: number): number {
  let length = 0
  for (let index = 0; index < list.length && length < LARGE; index += 1) {
    length += lengthOf(list[index], depth - 1)
  }
  return length
}

function lengthOfObject(object: Record<string, unknown>, depth: number): number {
  let length = 0
  for (const name in object) {
    length += lengthOf(object[name], depth - 1)
    if (length >= LARGE) break
  }
  return length
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function* partsOf(value: unknown, depth: number): Generator<string> {
  if (typeof value === 'string' && value.length > PIECE) {
    yield '"'
    yield* partsOfText(value)
    yield '"'
  } else if (depth === 0 || typeof value !== 'object' || value === null) {
    yield JSON.stringify(value) ?? 'null'
  } else if (Array.isArray(value)) {
    yield* joinEntries('[', ']', value, (entry) => partsOf(entry, depth - 1))
  } else {
    const fields = Object.entries(value).filter(([, field]) => field !== undefined)
    yield* joinEntries('{', '}', fields, function* ([name, field]) {
      yield `${JSON.stringify(name)}:`
      yield* partsOf(field, depth - 1)
    })
  }
}

/** A surrogate without its other half would be escaped: no part ends between the two. */
function* partsOfText(text: string): Generator<string> {
  for (let from = 0; from < text.length; ) {
    const isInPair = /[\ud800-\udbff]/.test(text.charAt(from + PIECE - 1))
    const to = from + PIECE - (isInPair ? 1 : 0)
    yield JSON.stringify(text.slice(from, to)).slice(1, -1)
    from = to
  }
}

function* joinEntries<T>(
  open: string,
  close: string,
  entries: readonly T[],
  partsOfEntry: (entry: T) => Generator<string>,
): Generator<string> {
  yield open
  for (const [index, entry] of entries.entries()) {
    if (index > 0) yield ','
    yield* partsOfEntry(entry)
  }
  yield close
}

function* gatherParts(parts: Generator<string>): Generator<string> {
  let piece = ''
  for (const part of parts) {
    piece += part
    if (piece.length < PIECE) continue
    yield piece
    piece = ''
  }
  if (piece !== '') yield piece
}

function streamOf(
  pieces: Generator<string>,
  onPiece: () => void,
  onEnd: () => void,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  const slice = new TimeSlice()
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        await slice.waitForNextSlice()
        const next = pieces.next()
        onPiece()
        if (!next.done) return controller.enqueue(encoder.encode(next.value))
        onEnd()
        controller.close()
      },
      cancel: onEnd,
    },
    { highWaterMark: 0 },
  )
}
