/** The content codings of bodies that are passed on as they arrive. */
import { pipeline, Readable, type Transform } from 'node:stream'
import zlib from 'node:zlib'
import { Fault } from '../../core/fault.ts'

/** Decoders by content coding. Each gets the first bytes of the encoded body. */
const decoders: Record<string, (head: Uint8Array) => Transform> = {
  gzip: () => zlib.createGunzip(),
  'x-gzip': () => zlib.createGunzip(),
  deflate: (head) => (isZlib(head) ? zlib.createInflate() : zlib.createInflateRaw()),
  br: () => zlib.createBrotliDecompress(),
  zstd: () => zlib.createZstdDecompress(),
}
/** Bytes that identify the format. */
const HEAD_BYTES = 2

/** Whether a body has a coding other than its own. */
export function isEncoded(coding: string | null | undefined): boolean {
  return !/^\s*(identity)?\s*$/i.test(coding ?? '')
}

/** Many servers call raw DEFLATE `deflate`, which means the format of zlib (RFC 9110, section 8.4.1.2). */
export function isZlib([first = 0, second = 0]: Uint8Array): boolean {
  return (first & 0x0f) === 8 && ((first << 8) | second) % 31 === 0
}

/**
 * Decodes in chunks: memory stays bounded for any expansion. An empty body decodes to an empty one, with any coding.
 */
export function decodeBody({ body, headers }: Response): AsyncIterable<Uint8Array> | null {
  const coding = headers.get('content-encoding')?.trim().toLowerCase()
  if (body === null || coding === undefined || !isEncoded(coding)) return body
  const decoder = Object.hasOwn(decoders, coding) ? decoders[coding] : undefined
  if (!decoder) throw new Fault('upstream_protocol_error')
  return decodeStream(body, decoder)
}

async function* decodeStream(
  body: AsyncIterable<Uint8Array>,
  openDecoder: (head: Uint8Array) => Transform,
): AsyncGenerator<Uint8Array, void> {
  const chunks = body[Symbol.asyncIterator]()
  let head: Uint8Array = new Uint8Array()
  while (head.length < HEAD_BYTES) {
    const { value, done } = await chunks.next()
    if (done) break
    head = Buffer.concat([head, value])
  }
  if (head.length === 0) return
  const decodeWhole = async function* () {
    yield head
    for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value
  }
  // Errors of both streams reach the reader of the pipeline's end.
  try {
    yield* pipeline(Readable.from(decodeWhole()), openDecoder(head), () => {})
  } finally {
    await chunks.return?.()
  }
}
