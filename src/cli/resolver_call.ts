/** Calls through the resolver, and explains refusals to people. */

import {
  AnswerError,
  ApiError,
  type CallInput,
  type CallResult,
  openApi,
} from '../client/http/api.ts'
import { fromBase64 } from '../core/crypto/encoding.ts'
import { PLACEHOLDER_PREFIX, SECRET_NAME } from '../core/names/secret_name.ts'
import { parseDomain } from '../core/net/domain.ts'
import { listCredentials, resolveCall } from '../resolver/contract.ts'
import type { Context } from './context.ts'
import { findNearNames } from './named.ts'
import { asToken, environmentFor, type Tracing } from './tokens/given_token.ts'
import { runAtAddress } from './wrong_address.ts'

export type Answer = CallResult<typeof resolveCall>

/** One request through the resolver. @throws ApiError, AnswerError */
export async function callResolver(
  context: Context,
  token: string,
  request: CallInput<typeof resolveCall>['body'],
  options: { signal?: AbortSignal } & Tracing & Waiting = {},
): Promise<Answer> {
  const body = { ...request, ...(await environmentFor(context, token, 'resolver', options)) }
  const resolver = await context.resolver()
  const api = openApi(resolver, () => token, options)
  const send = (sent: typeof body) =>
    asToken(runAtAddress('resolver', resolver, api.call(resolveCall, { body: sent })))
  const answer = await sendOrWait(body, send, options).catch(async (error: unknown) => {
    const known = await withNearSecret(error, request, {
      resolver,
      token,
      environment: body.environment ?? undefined,
    })
    throw withFix(nameUrlInError(known), request.target_url)
  })
  if (answer.body_encoding !== 'base64' || fromBase64(answer.body) !== null) return answer
  throw new AnswerError(resolver, 'returned a body that is not valid base64')
}

/** How long a call waits for an approval, if it needs one. */
type Waiting = {
  /** Milliseconds. */
  waitMs?: number
  /** Called when the call begins to wait. */
  onWait?(refusal: ApiError): void
}

/** A call that needs an approval is sent again, and waits for it. */
async function sendOrWait<Body extends object>(
  body: Body,
  send: (body: Body) => Promise<Answer>,
  { waitMs = 0, onWait }: Waiting,
): Promise<Answer> {
  try {
    return await send(body)
  } catch (error) {
    const isPending = error instanceof ApiError && error.code === 'approval_required'
    if (!isPending || waitMs === 0) throw error
    onWait?.(error)
    return send({ ...body, approval_wait_ms: waitMs })
  }
}

/** The person typed a URL, and not the field of the API. */
function nameUrlInError(error: unknown): unknown {
  if (!(error instanceof ApiError) || error.code !== 'invalid_target') return error
  const { status, code: error_code, fix, docs } = error
  const message = error.message.replace(/^target_url\b/, 'The URL')
  return new ApiError(status, {
    error_code,
    message,
    fix: fix ?? undefined,
    docs: docs ?? undefined,
  })
}

/** A refused host is allowed by a command that this client can name, because it made the call. */
function withFix(error: unknown, targetUrl: string): unknown {
  if (!(error instanceof ApiError) || error.code !== 'domain_blocked' || error.fix) return error
  const domain = parseDomain(URL.parse(targetUrl)?.host ?? '')
  if (domain === null) return error
  const { status, code: error_code, message } = error
  const fix = { command: ['cloakroom', 'allowlist', 'add', domain.text] }
  return new ApiError(status, { error_code, message, fix, docs: error.docs ?? undefined })
}

/** Milliseconds to wait for the names, which only improve a hint. */
const NAMES_MS = 3_000

type Caller = { resolver: string; token: string; environment: string | undefined }

const PLACEHOLDER = new RegExp(`${PLACEHOLDER_PREFIX}(${SECRET_NAME})`, 'g')

/**
 * The refusal of a request with a near name in its message and without a fix; unchanged where the token has no near name.
 */
async function withNearSecret(error: unknown, request: object, caller: Caller): Promise<unknown> {
  if (!(error instanceof ApiError) || error.code !== 'unknown_secret') return error
  const { status, code: error_code, message, docs } = error
  const usable = await listUsableNames(caller)
  const typed = [...JSON.stringify(request).matchAll(PLACEHOLDER)].map(([, name = '']) => name)
  const unknown = typed.find((name) => message.includes(name) && !usable.includes(name))
  const near = unknown === undefined ? [] : findNearNames(unknown, usable)
  if (near.length === 0) return error
  const meant = `${message} Is it ${near.join(', ')}?`
  return new ApiError(status, { error_code, message: meant, docs: docs ?? undefined })
}

/** Empty where the token may not list them. */
async function listUsableNames({ resolver, token, environment }: Caller): Promise<string[]> {
  const api = openApi(resolver, () => token, { timeoutMs: NAMES_MS })
  const usable = await api.call(listCredentials, {}).catch(() => [])
  const here = usable.filter((one) => environment === undefined || one.environment === environment)
  return here.map(({ name }) => name)
}
