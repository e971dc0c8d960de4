/**
 * Reads a request body, bounded: the declared length is checked before the first byte is taken, and
 * chunked bodies are counted while they arrive.
 */
import { Fault } from '../fault.ts'
import { readCapped } from './capped_body.ts'
import { parseJson } from './json.ts'

/** 1 MiB, the limit where nothing else is said (docs/protocol.md, "HTTP conventions"). */
export const DEFAULT_BODY_LIMIT = 1_048_576

/**
 * The parsed JSON body; `undefined` for an absent one where that is allowed.
 *
 * @throws Fault `unsupported_media_type`, `payload_too_large`, `malformed_json`
 */
export async function readJsonBody(
  request: Request,
  {
    limit = DEFAULT_BODY_LIMIT,
    optional = false,
  }: { limit?: number | undefined; optional?: boolean },
): Promise<unknown> {
  if (optional && isAbsent(request)) return undefined
  checkMediaType(request.headers)
  const bytes = await readBounded(request, limit)
  if (optional && bytes.length === 0) return undefined
  return parseJson(bytes)
}

function isAbsent(request: Request): boolean {
  return request.body === null && !request.headers.has('content-type')
}

function checkMediaType(headers: Headers): void {
  const [type, ...parameters] = (headers.get('content-type') ?? '').toLowerCase().split(';')
  const charset = parameters.map((text) => text.trim()).find((text) => text.startsWith('charset='))
  const isUtf8 = charset === undefined || /^charset="?utf-8"?$/.test(charset)
  const encoding = headers.get('content-encoding')?.toLowerCase() ?? 'identity'
  if (type?.trim() === 'application/json' && isUtf8 && encoding === 'identity') return
  throw new Fault('unsupported_media_type')
}

async function readBounded(request: Request, limit: number): Promise<Uint8Array> {
  const declared = Number(request.headers.get('content-length') ?? 0)
  if (declared > limit) throw tooLarge(limit)
  if (request.headers.has('content-length')) return received(() => request.bytes())
  return received(() => readCapped(request.body, limit, () => tooLarge(limit)))
}

/** A body that breaks off is the caller's fault, whatever the runtime throws for it. */
async function received(read: () => Promise<Uint8Array>): Promise<Uint8Array> {
  try {
    return await read()
  } catch (cause) {
    if (cause instanceof Fault) throw cause
    throw new Fault('malformed_json', { message: 'The request body did not arrive whole.', cause })
  }
}

function tooLarge(limit: number): Fault {
  return new Fault('payload_too_large', {
    message: `The request body may have at most ${limit} bytes.`,
  })
}
