/**
 * Reads a request body, bounded: the declared length is checked before the first byte is taken, and
 * chunked bodies are counted while they arrive.
 */
import type { z } from 'zod'
import type { BodyAccount } from '../core/body_memory.ts'
import { buildFieldFault, Fault } from '../core/fault.ts'
import { fieldFaults } from '../core/validation/complaints.ts'
import { parsePart } from '../core/validation/validate.ts'
import { readCapped } from './capped_body.ts'
import { boundsOf, unbounded } from './json/bounds.ts'
import { type ReadJson, readJsonBytes } from './json/read.ts'
import { SMALL_BODY } from './json/read_small.ts'
import { validateLarge } from './validation/validate_large.ts'

/** 1 MiB, the default limit (protocol 2). */
export const DEFAULT_BODY_LIMIT = 1_048_576

/**
 * The body as its contract takes it; an absent one, where that is allowed, is read as `{}`.
 *
 * @throws Fault `unsupported_media_type`, `payload_too_large`, `malformed_json`, `validation_error`, and
 * `rate_limited` or `unavailable` where bodies hold too much memory
 */
export async function readBody<S extends z.ZodType>(
  request: Request,
  schema: S,
  options: BodyOptions,
): Promise<z.output<S>> {
  const read = await readJsonBody(request, options, boundsOf(schema))
  if (!read) return parsePart(schema, {})
  if (read.tooLong.length > 0) throw new Fault('validation_error', { fields: read.tooLong })
  const data =
    read.size > SMALL_BODY ? await parseLarge(schema, read.value) : parsePart(schema, read.value)
  // The schema accepts more than the documented bounds, so dropped parts must be rejected.
  if (read.cut.length > 0) throw new Fault('validation_error', { fields: read.cut })
  return data as z.output<S>
}

type BodyOptions = {
  limit?: number | undefined
  optional?: boolean
  /** Counts the body before its first byte is read. */
  account: BodyAccount
}

/**
 * The JSON of a body, as far as it keeps within the bounds; `null` for an absent one where that is
 * allowed.
 *
 * @throws Fault `unsupported_media_type`, `payload_too_large`, `malformed_json`
 */
export async function readJsonBody(
  request: Request,
  { limit = DEFAULT_BODY_LIMIT, optional = false, account }: BodyOptions,
  bounds = unbounded,
): Promise<(ReadJson & { size: number }) | null> {
  if (optional && isAbsent(request)) return null
  checkMediaType(request.headers)
  const bytes = await readBounded(request, limit, account)
  if (optional && bytes.length === 0) return null
  const read = readJsonBytes(bytes, bounds)
  return { ...(read instanceof Promise ? await read : read), size: bytes.length }
}

async function parseLarge(schema: z.ZodType, value: unknown): Promise<unknown> {
  const { data, issues } = await validateLarge(schema, value)
  if (issues.length > 0) throw new Fault('validation_error', { fields: fieldFaults(issues) })
  return data
}

function isAbsent(request: Request): boolean {
  return request.body === null && !request.headers.has('content-type')
}

function checkMediaType(headers: Headers): void {
  const given = headers.get('content-type') ?? ''
  if (given === 'application/json' && !headers.has('content-encoding')) return
  const [type, ...parameters] = given.toLowerCase().split(';')
  const charset = parameters.map((text) => text.trim()).find((text) => text.startsWith('charset='))
  const isUtf8 = charset === undefined || /^charset="?utf-8"?$/.test(charset)
  const encoding = headers.get('content-encoding')?.toLowerCase() ?? 'identity'
  if (type?.trim() === 'application/json' && isUtf8 && encoding === 'identity') return
  throw new Fault('unsupported_media_type')
}

/** An incomplete body is the caller's fault, whatever error the runtime throws. */
async function readBounded(
  request: Request,
  limit: number,
  account: BodyAccount,
): Promise<Uint8Array> {
  const declared = request.headers.get('content-length')
  if (Number(declared ?? 0) > limit) throw buildTooLargeFault(limit)
  const meter = account.expect(declared === null ? null : Number(declared))
  try {
    if (declared !== null) return await request.bytes()
    const bytes = await readCapped(request.body, limit, () => buildTooLargeFault(limit), meter)
    await demandEnd(request)
    return bytes
  } catch (cause) {
    if (cause instanceof Fault) throw cause
    throw new Fault('malformed_json', { message: 'The request body is incomplete.', cause })
  }
}

/**
 * The runtime reads the text after the last chunk later, and answers trailers with 400: a refused request must not be
 * executed.
 */
async function demandEnd({ signal }: Request): Promise<void> {
  await new Promise(setImmediate)
  if (signal.aborted) throw new Fault('malformed_json')
}

function buildTooLargeFault(limit: number): Fault {
  return new Fault('payload_too_large', {
    message: `The request body may have at most ${limit} bytes.`,
  })
}

/** Repeated parameters are refused: two readers would pick different ones. */
export function queryOf(request: Request): Record<string, string> {
  const query: Record<string, string> = Object.create(null)
  for (const [name, value] of new URL(request.url).searchParams) {
    if (name in query) throw buildFieldFault(name.slice(0, 64), 'is given twice')
    query[name] = value
  }
  return query
}
