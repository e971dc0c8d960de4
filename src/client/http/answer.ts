/**
 * The response of a server, which may not be Cloakroom: an address may be mistyped, a gateway may be before it, or it
 * may be hostile. So responses are limited in size and time, and must match the contract. Otherwise, the error names
 * the host and the status.
 */
import { z } from 'zod'
import { piecesOf } from '../../core/async/streams.ts'
import { withTimeout } from '../../core/async/timeout.ts'
import { fromUtf8 } from '../../core/crypto/encoding.ts'
import { type FieldFault, type Fix, PLAIN_ARGUMENT } from '../../core/fault.ts'
import { readCapped } from '../../http/capped_body.ts'
import type { Endpoint } from '../../http/endpoint.ts'
import { validateLarge } from '../../http/validation/validate_large.ts'
import { asSent, connectionFault, noteServerDate, readLocalTime } from './transport.ts'

const MIB = 1_048_576
/** Lists by the page, an environment with its ciphertexts, and the answer of an API that a call brings. */
const LARGE_LIMIT = 64 * MIB
const USUAL_LIMIT = 16 * MIB
const REFUSAL_LIMIT = MIB
/** Milliseconds for a whole answer: more than the longest call through a resolver may take. */
export const ANSWER_TIMEOUT_MS = 150_000
/** Milliseconds between two pieces of a file. */
const PIECE_TIMEOUT_MS = 60_000

/** A refusal as the server worded it. */
export class ApiError extends Error {
  readonly status: number
  readonly code: string
  readonly fields: readonly FieldFault[]
  readonly requestId: string | null
  /** The remedy, if the server or this client knows it. */
  readonly fix: Fix | null
  /** A page of the documentation with an anchor, such as `guides/access.md#tokens`. */
  readonly docs: string | null
  /** Milliseconds until the request may be repeated, if the server sent it. */
  readonly retryAfterMs: number | null

  constructor(
    status: number,
    body: Refusal & { error_code?: string; message?: string },
    retryAfterMs: number | null = null,
  ) {
    super(body.message ?? `the server returned ${status}`)
    this.name = 'ApiError'
    this.status = status
    this.code = body.error_code ?? NO_CODE
    this.fields = body.fields ?? []
    this.requestId = body.request_id ?? null
    this.fix = body.fix ?? null
    this.docs = body.docs ?? null
    this.retryAfterMs = retryAfterMs
  }
}

/** The code of an error without a code, which is not from a Cloakroom server. */
export const NO_CODE = 'unusable_answer'

/** An unusable response: wrong form, too large, or too slow. */
export class AnswerError extends Error {
  constructor(url: string, what: string) {
    super(`${hostOf(url)} ${what}`)
    this.name = 'AnswerError'
  }
}

/** A response that takes too long: the server may be unavailable. */
export class LateAnswer extends AnswerError {}

type Refusal = {
  fields?: FieldFault[] | undefined
  request_id?: string | undefined
  fix?: Fix | undefined
  docs?: string | undefined
}

/** The outcome of a request: its result by the contract, and the start of the next page. */
export type Answered = { data: unknown; beside: unknown; next: string | null; bytes: number }

const fix = z.union([
  z.object({
    command: z.tuple([z.literal('cloakroom')], z.string().regex(PLAIN_ARGUMENT)),
  }),
  z.object({ setting: z.string().regex(/^[A-Z][A-Z0-9_]{1,60}$/) }),
])
const docs = z.string().regex(/^(?:[a-z]{1,20}\/)?[a-z][a-z0-9_-]{0,40}\.md#[a-z0-9_-]{1,80}$/)

const refusal = z.object({
  error_code: z.string(),
  message: z.string(),
  fields: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  request_id: z.string().optional(),
  fix: fix.optional().catch(undefined),
  docs: docs.optional().catch(undefined),
})
const success = z.object({ status: z.literal('success'), data: z.unknown().optional() })
const page = success.extend({ pagination: z.object({ next_cursor: z.string().nullable() }) })

/**
 * One request with its whole answer.
 *
 * @throws ApiError for a refusal, AnswerError, UntrustedCertificate
 * @throws TypeError or DOMException when the server cannot be reached
 */
export function exchangeJson(
  endpoint: Endpoint,
  url: string,
  init: RequestInit,
  timeoutMs: number = ANSWER_TIMEOUT_MS,
): Promise<Answered> {
  const ended = new AbortController()
  const buildLateError = () => {
    ended.abort()
    return new LateAnswer(url, `did not respond completely within ${timeoutMs / 1000} seconds`)
  }
  const signal = init.signal ? AbortSignal.any([init.signal, ended.signal]) : ended.signal
  return withTimeout(timeoutMs, receive(endpoint, url, { ...init, signal }), buildLateError)
}

async function receive(endpoint: Endpoint, url: string, init: RequestInit): Promise<Answered> {
  const response = await send(url, init, endpoint.degradable)
  const { status } = response
  const limit = endpoint.paged || endpoint.access.kind === 'token' ? LARGE_LIMIT : USUAL_LIMIT
  const bytes = await readCapped(
    piecesOf(response.body),
    limit,
    () => new AnswerError(url, `returned ${status} with more than ${limit / MIB} MiB`),
  )
  const answer = parse(bytes)
  const received = await resultOf(endpoint, answer)
  if (received) return { ...received, bytes: bytes.length }
  if (!response.ok) throw refusalFrom(url, response, answer)
  throw new AnswerError(url, `returned ${status}, but not as a Cloakroom server`)
}

/**
 * A file, piece by piece. It has no bound but for the time between two pieces.
 *
 * @throws ApiError, AnswerError, UntrustedCertificate
 */
export async function* download(
  { mediaType = '' }: Endpoint,
  url: string,
  init: RequestInit,
): AsyncGenerator<Uint8Array, void> {
  const ended = new AbortController()
  const buildLateError = () => new AnswerError(url, 'closed the connection during its response')
  const rejectWhenLate = <T>(work: Promise<T>) =>
    withTimeout(PIECE_TIMEOUT_MS, work, buildLateError)
  try {
    const signal = init.signal ? AbortSignal.any([init.signal, ended.signal]) : ended.signal
    const { body, headers, status } = await rejectWhenLate(send(url, { ...init, signal }))
    if (!headers.get('content-type')?.startsWith(mediaType)) {
      throw new AnswerError(url, `returned ${status}, but not as a Cloakroom server`)
    }
    const pieces = body?.getReader()
    for (;;) {
      const piece = pieces && (await rejectWhenLate(pieces.read()))
      if (!piece?.value) return
      yield piece.value
    }
  } finally {
    ended.abort()
  }
}

/** @param isDegradable whether 503 has a result, too. @throws ApiError, UntrustedCertificate */
async function send(url: string, init: RequestInit, isDegradable = false): Promise<Response> {
  // The request is only for this address: no response redirects it.
  const sent = asSent({ ...init, redirect: 'manual' })
  const sentAt = readLocalTime()
  const response = await fetch(url, sent).catch((error: unknown) => {
    throw connectionFault(url, error)
  })
  noteServerDate(url, response.headers, sentAt)
  if (response.ok || (isDegradable && response.status === 503)) return response
  throw await refusalOf(url, response)
}

async function refusalOf(url: string, response: Response): Promise<ApiError> {
  const pieces = piecesOf(response.body)
  const bytes = await readCapped(pieces, REFUSAL_LIMIT, () => new Error('too much')).catch(
    () => null,
  )
  return refusalFrom(url, response, bytes && parse(bytes))
}

function refusalFrom(url: string, { status, headers }: Response, answer: unknown): ApiError {
  const told = refusal.safeParse(answer)
  const seconds = Number(headers.get('retry-after') ?? Number.NaN)
  const wait = seconds >= 0 ? seconds * 1000 : null
  if (told.success) return new ApiError(status, told.data, wait)
  const leadsAway = status >= 300 && status < 400
  const what = leadsAway ? 'redirects to another address, which is not followed' : 'gave no reason'
  return new ApiError(status, { message: `${hostOf(url)} returned ${status}, and ${what}` }, wait)
}

/** `null` for text that the contract does not allow. */
async function resultOf(
  { bare, paged, result, beside: besideSchema }: Endpoint,
  answer: unknown,
): Promise<Omit<Answered, 'bytes'> | null> {
  const wrapped = bare ? null : (paged ? page : success).safeParse(answer)
  if (wrapped && !wrapped.success) return null
  const given = wrapped ? wrapped.data.data : answer
  const next = paged ? page.parse(answer).pagination.next_cursor : null
  const beside = besideSchema?.safeParse(answer)
  if (beside?.success === false) return null
  const others = { beside: beside?.data, next }
  if (!result) return { data: undefined, ...others }
  const { data, issues } = await validateLarge(result, given)
  return issues.length === 0 ? { data, ...others } : null
}

/** `undefined`, which is not a JSON value, for invalid JSON. */
function parse(bytes: Uint8Array): unknown {
  const text = fromUtf8(bytes)
  try {
    return text === null ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

function hostOf(url: string): string {
  return URL.parse(url)?.host ?? 'the server'
}
