/**
 * Parts of an object by bytes (RFC 9110, section 14). A part alone could hold too little of a value to recognise it,
 * and recognising a few characters at its edges would confirm guesses. So the request includes the bytes around the
 * part, all of these are searched, and the part is cut out. Matches are overwritten, so that all bytes keep their
 * positions and parts fit together.
 */
import { Fault } from '../../core/fault.ts'

/** An answer's headers by their names in lower case; repeated ones are joined, except set-cookie. */
export type ReceivedHeaders = ReturnType<Headers['toJSON']>

/** Bytes on either side: four times the maximum that a guard's stream holds back. */
const SURROUNDINGS = 16_384

/** `first` to `last`, or to the end if that is `null`; without `first`, this many bytes at the end. */
export type Part = { first: number; last: number | null } | { count: number }

/** An allowed header for that part, in lower case. `part` is null if the header names the place of a body. */
export type AskedRange = { header: string; part: Part | null }

/** Cuts a response with surrounding bytes down to the requested part. */
export type Cut = {
  status: number
  /** Headers that differ from those of the whole answer. */
  headers: Record<string, string>
  /** Bytes that the upstream sends. */
  sent: number
  skip: number
  length: number
  /** The body in place of the received one. */
  instead: string | null
}

/** Headers with checksums of the whole content, which would be wrong for a part of it. */
const OF_CONTENT =
  /^(x-amz-checksum-.+|x-ms-content-crc64|x-ms-blob-content-md5|x-goog-hash|x-.+-hash-crc64ecma|(content-|repr-)?digest|content-md5|x-checksum(-.+)?|x-(amz-)?content-sha256|x-bz-content-sha1)$/
const RANGE = /^\s*bytes=(\d{0,15})-(\d{0,15})\s*$/i
/** S3 sends unrequested parts for uploads with `partNumber`. */
const NOT_ASKED = {
  message:
    'The API returned part of an object without a requested range, so it cannot be searched for credentials. Request a byte range with the Range header.',
}
const ANSWERED = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15})$/

/** Returns the headers with which a host returns exactly the requested part, for any signature. */
export function rangesAt(host: string): readonly string[] {
  return /^(.+\.)?storage\.googleapis\.com$/.test(host) ? ['range'] : []
}

/** The only range of the request. `null` for none, several, or an invalid one. */
export function rangeIn(
  { method, headers }: { method: string; headers: Readonly<Record<string, string>> },
  names: readonly string[],
): AskedRange | null {
  if (names.length === 0) return null
  const given = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const)
  const [range, ...others] = given.filter(([name]) => names.includes(name))
  if (!range || others.length > 0) return null
  const [header, value] = range
  // For `PUT`, the range is the place to which the body is written.
  if (method === 'PUT' && header === 'x-ms-range') return { header, part: null }
  const part = method === 'GET' || method === 'HEAD' ? readPart(value) : null
  return part && { header, part }
}

/** Parses a single range of bytes; returns `null` for other ranges. */
export function readPart(range: string): Part | null {
  const [, first = '', last = ''] = RANGE.exec(range) ?? []
  if (first === '') return last === '' ? null : { count: Number(last) }
  const part = { first: Number(first), last: last === '' ? null : Number(last) }
  return part.last !== null && part.last < part.first ? null : part
}

/** Returns the `Range` that is sent. */
export function formatSentRange(part: Part): string {
  if ('count' in part) return `bytes=-${part.count + SURROUNDINGS}`
  const { first, last } = part
  return `bytes=${Math.max(0, first - SURROUNDINGS)}-${last === null ? '' : last + SURROUNDINGS}`
}

/** The part for an answer without a requested range: only all of an object can be searched. */
const ALL: Part = { first: 0, last: null }

/**
 * Returns the cut of a partial answer; `null` for a whole answer, which an upstream may send instead.
 *
 * @throws Fault `upstream_protocol_error` for another part than the requested one, and for a part of encoded content
 */
export function cutOf(asked: Part | null, status: number, received: ReceivedHeaders): Cut | null {
  const part = asked ?? (isOfBytes(received) ? ALL : null)
  if (status !== 206 || part === null) return null
  const [, start = Number.NaN, end = Number.NaN, size = Number.NaN] = (
    ANSWERED.exec(received['content-range'] ?? '') ?? []
  ).map(Number)
  const [first, last] = boundsIn(part, size)
  const isAsked =
    start === Math.max(0, first - SURROUNDINGS) && end === Math.min(size - 1, last + SURROUNDINGS)
  const sent = end - start + 1
  const { 'content-encoding': coding = 'identity', 'content-length': declared = sent } = received
  if (!isAsked || coding !== 'identity' || Number(declared) !== sent) {
    throw new Fault('upstream_protocol_error', asked ? {} : NOT_ASKED)
  }
  if (first >= size) return buildBeyondAnswer(size, sent)
  const length = last - first + 1
  const headers = {
    'content-range': `bytes ${first}-${last}/${size}`,
    'content-length': String(length),
  }
  return { status, headers, sent, skip: first - start, length, instead: null }
}

/** How the answer to a caller differs from the received one. */
type Difference = {
  isCut: boolean
  /** Its content-encoding is removed. */
  isDecoded: boolean
  /** Its body was changed, or may be after these headers are sent. */
  isRedacted: boolean
  /** Whether parts of it can be requested. */
  allowsRanges: boolean
}

/** Whether a header (a digest or a strong ETag) is valid only for exactly these bytes. */
export function describesBytes(received: ReceivedHeaders): boolean {
  if (received.etag?.startsWith('"')) return true
  for (const name in received) if (OF_CONTENT.test(name)) return true
  return false
}

/** Removes or weakens headers that do not match the response to the caller. */
export function dropUntrue(
  presented: Record<string, string>,
  { isCut, isDecoded, isRedacted, allowsRanges }: Difference,
): void {
  const isChanged = isDecoded || isRedacted
  if (isCut || isChanged) {
    for (const name in presented) if (OF_CONTENT.test(name)) delete presented[name]
  }
  // The tag does not represent these bytes (RFC 9110, section 8.8.1); for a part it names the object.
  const { etag } = presented
  if (isChanged && !isCut && etag?.startsWith('"')) presented.etag = `W/${etag}`
  // Otherwise, clients would request the rest of a download, and receive all of it.
  if (!allowsRanges && presented['accept-ranges'] !== undefined) presented['accept-ranges'] = 'none'
}

/** Returns the requested bytes of the received ones. */
export function cutBytes(bytes: Uint8Array, { sent, skip, length, instead }: Cut): Uint8Array {
  if (bytes.length === 0) return bytes
  if (instead !== null) return Buffer.from(instead)
  if (bytes.length !== sent) throw new Fault('upstream_protocol_error')
  return bytes.subarray(skip, skip + length)
}

/** Yields the declared part and stops reading. */
export async function* boundToPart(
  chunks: AsyncIterable<Uint8Array>,
  { sent }: Cut,
): AsyncGenerator<Uint8Array, void> {
  let left = sent
  for await (const chunk of chunks) {
    left -= chunk.length
    if (left < 0) break
    yield chunk
    if (left === 0) return
  }
  throw new Fault('upstream_protocol_error')
}

/** Cuts the part out of a stream. */
export async function* cutPieces(
  pieces: AsyncIterable<Uint8Array>,
  { skip, length, instead }: Cut,
): AsyncGenerator<Uint8Array, void> {
  let from = skip
  let left = length
  for await (const piece of pieces) {
    const wanted = piece.subarray(from, from + left)
    from = Math.max(0, from - piece.length)
    left -= wanted.length
    if (wanted.length > 0) yield wanted
    if (left === 0) break
  }
  if (left > 0) throw new Fault('upstream_protocol_error')
  if (instead !== null) yield Buffer.from(instead)
}

/** Whether a part is a byte range. Upstreams also mark pages of rows and incomplete results as parts. */
function isOfBytes(received: ReceivedHeaders): boolean {
  return (
    /^\s*bytes\b/i.test(received['content-range'] ?? '') ||
    /^\s*multipart\/byteranges\b/i.test(received['content-type'] ?? '')
  )
}

function boundsIn(part: Part, size: number): [first: number, last: number] {
  if ('count' in part) return [Math.max(0, size - part.count), size - 1]
  return [part.first, Math.min(part.last ?? size, size - 1)]
}

/** Returns S3's answer to a range that begins after the end. */
function buildBeyondAnswer(size: number, sent: number): Cut {
  const instead = `<?xml version="1.0" encoding="UTF-8"?>
<Error><Code>InvalidRange</Code><Message>The requested range is not satisfiable</Message><ActualObjectSize>${size}</ActualObjectSize></Error>
`
  const headers = {
    'content-range': `bytes */${size}`,
    'content-length': String(instead.length),
    'content-type': 'application/xml',
  }
  return { status: 416, headers, sent, skip: 0, length: 0, instead }
}
