/** One exchange with a token endpoint: the request, its outcomes, and the parsing that all kinds share. */
import { type Credential, isCredential } from './credential.ts'
import { readJsonObject } from './json.ts'
import type { DerivedState } from './state_form.ts'

/** A POST. `headers` lacks `host` and framing. `spendsRefreshToken`: the endpoint may replace the token it is sent. */
export type TokenRequest = {
  url: string
  headers: [string, string][]
  body: Uint8Array
  spendsRefreshToken: boolean
}

export type TokenAnswer = { status: number; headers: Headers; body: Uint8Array }

/**
 * The meaning of an answer. `code` is a registered error code or a fixed word of this module, never the endpoint's
 * text. `lifetimeS` counts from sending. `retryAfterS` is the wait that the endpoint requires, at most 3,600.
 */
export type Outcome =
  | { kind: 'derived'; credential: Credential; refreshToken: string | null; lifetimeS: number }
  | { kind: 'final'; code: string; mayHaveLostToken: boolean }
  | { kind: 'retry'; code: string; retryAfterS: number | null }

/** One kind of root: its endpoint, its request, and how it reads an answer. */
export type Derivation<R> = {
  findEndpoint(root: R): URL
  buildRequest(root: R, state: DerivedState | null, nowMs: number): Promise<TokenRequest>
  readAnswer(root: R, answer: TokenAnswer, request: TokenRequest, nowMs: number): Outcome
}

/** Bytes of an answer; a longer one is not read. */
export const MAX_ANSWER_BYTES = 1_048_576
/** Seconds that a credential lasts if the answer gives no usable lifetime. */
export const DEFAULT_LIFETIME_S = 3_600
const MAX_RETRY_AFTER_S = 3_600
/** IMF-fixdate of RFC 9110, section 5.6.7. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

export const COMMON_HEADERS: readonly [string, string][] = [
  ['accept', 'application/json'],
  ['user-agent', 'cloakroom'],
]

/** Returns the object of a successful answer, for any content type, or else null. */
export function readSuccess({ status, body }: TokenAnswer): Record<string, unknown> | null {
  if (status !== 200 && status !== 201) return null
  const answer = readJsonObject(body)
  if (answer === null || (answer.error ?? null) !== null || answer.ok === false) return null
  return answer
}

/** The outcome of a successful answer with its credential, which is only accepted in the form of protocol 13.3. */
export function acceptToken(
  credential: unknown,
  refreshToken: string | null,
  lifetimeS: number,
): Outcome {
  if (!isCredential(credential)) return retryLater('invalid_answer')
  return { kind: 'derived', credential, refreshToken, lifetimeS }
}

export function retryLater(code: string, retryAfterS: number | null = null): Outcome {
  return { kind: 'retry', code, retryAfterS }
}

/** A retry for an answer that is neither accepted nor final. */
export function retryAnswer(
  { status, headers }: TokenAnswer,
  nowMs: number,
  code = status === 200 || status === 201 ? 'invalid_answer' : `http_${status}`,
): Outcome {
  return retryLater(code, readRetryAfter(headers, nowMs))
}

/** Both forms of RFC 9110, section 10.2.3, in seconds; null if absent or malformed. */
function readRetryAfter(headers: Headers, nowMs: number): number | null {
  const text = headers.get('retry-after')?.trim() ?? ''
  if (/^\d{1,15}$/.test(text)) return Math.min(Number(text), MAX_RETRY_AFTER_S)
  const atMs = readHttpDate(text)
  if (atMs === null) return null
  const seconds = Math.ceil((atMs - nowMs) / 1000)
  return Math.min(Math.max(seconds, 0), MAX_RETRY_AFTER_S)
}

function readHttpDate(text: string): number | null {
  const atMs = HTTP_DATE.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(atMs) ? null : atMs
}

/**
 * Seconds from an answer to a moment it names, by the endpoint's own `Date` if it sent one: then a wrong clock on
 * either side does not matter. At most `maxS`, which also replaces a moment that is unusable or over.
 */
export function lifetimeUntil(
  untilMs: number,
  headers: Headers,
  nowMs: number,
  maxS: number,
): number {
  const answeredMs = readHttpDate(headers.get('date') ?? '') ?? nowMs
  const seconds = Math.floor((untilMs - answeredMs) / 1000)
  return seconds > 0 ? Math.min(seconds, maxS) : maxS
}
