/** The content codings of bodies that are passed on as they arrive. */
import { pipeline, Readable, type Transform } from 'node:stream'
import zlib from 'node:zlib'
import { Fault } from '../../platform/fault.ts'

const decoders: Record<string, () => Transform> = {
  gzip: () => zlib.createGunzip(),
  'x-gzip': () => zlib.createGunzip(),
  deflate: () => zlib.createInflate(),
  br: () => zlib.createBrotliDecompress(),
  zstd: () => zlib.createZstdDecompress(),
}

/** Decoded piece by piece: memory stays bounded whatever the pieces expand to. */
export function decodedBody({ body, headers }: Response): AsyncIterable<Uint8Array> | null {
  const coding = headers.get('content-encoding')?.trim().toLowerCase() ?? 'identity'
  if (body === null || coding === 'identity' || coding === '') return body
  const decoder = Object.hasOwn(decoders, coding) ? decoders[coding] : undefined
  if (!decoder) throw new Fault('upstream_protocol_error')
  // What goes wrong on either side comes out at the end that is read.
  return pipeline(Readable.fromWeb(body as never), decoder(), () => {})
}
