/**
 * Forward mode: `ANY /v1/forward/{host}/{path…}`. An SDK works by setting its base URL to
 * `{resolver}/v1/forward/api.openai.com/v1` and its API key to `svc_agt_….SVC_SECRET_OPENAI_KEY`; it
 * sends what it always sends, and the same steps are taken as for POST /v1/resolve.
 */

import { admitToken } from '../access/admission.ts'
import { BODY_LIMIT, type CallBody } from '../outbound/call.ts'
import { isGrpcCall } from '../outbound/grpc/frames.ts'
import { headersPassedOn, isBodyAnnounced, isHandshake } from '../outbound/headers.ts'
import { forwardPrefixes, resolverLinks } from '../outbound/links.ts'
import { needsWholeBody } from '../outbound/signing/aws_signature.ts'
import { refusalFormatOf } from '../outbound/signing/refusal_format.ts'
import { TOKEN_PATTERN } from '../platform/crypto/token.ts'
import { Fault, invalidField } from '../platform/fault.ts'
import type { TokenEndpoint } from '../platform/http/endpoint.ts'
import { presentForwardFault, type RefusalFormat } from '../platform/http/forward_refusal.ts'
import type { RequestContext } from '../platform/http/route.ts'
import { toFault } from '../platform/http/unexpected_error.ts'
import { parsePart } from '../platform/http/validate.ts'
import type { BodyAccount, BodyMeter } from '../platform/limits/body_memory.ts'
import { overridableBody } from '../platform/policy_check/override_body.ts'
import { forwardSettings } from './contract.ts'
import { perform, type TokenCall } from './resolve.ts'
import { rewriteBody } from './rewrite_body.ts'
import type { ResolverServices } from './services.ts'

const TOKEN_HEADER = 'x-service-token'
const BASIC = /^(basic +)([A-Za-z0-9+/]+={0,2})$/i
const ANYWHERE = new RegExp(TOKEN_PATTERN.source)
const EMBEDDED = new RegExp(`(${TOKEN_PATTERN.source})\\.`, 'g')
const BARE = new RegExp(`^bearer +(${TOKEN_PATTERN.source})$`, 'i')

export async function forward(
  services: ResolverServices,
  endpoint: TokenEndpoint,
  context: RequestContext,
): Promise<Response | null> {
  try {
    return await forwardCall(services, endpoint, context)
  } catch (error) {
    const { requestId, request } = context
    const format = formatOf(request)
    return presentForwardFault(toFault(error, requestId, services.log), requestId, format)
  }
}

async function forwardCall(
  services: ResolverServices,
  endpoint: TokenEndpoint,
  context: RequestContext,
): Promise<Response | null> {
  const { requestId } = context
  const { token: text, headers } = takeToken(context.request.headers)
  const admitted = await admitToken(services, endpoint, { text, requestId })
  const response = await perform(services, context, admitted, (_, account) => {
    if (isBodyAnnounced(context.request.headers)) context.expectBytes(BODY_LIMIT)
    return readForward(context, headers, services.defaultTimeoutMs, account)
  })
  const { request } = context
  if (!response || request.headers.get('x-service-rewrite') !== 'body') return response
  const { prefix, rest } = placeOf(request.url)
  return rewriteBody(response, rest.split('/', 1)[0] ?? '', `${context.origin}${prefix}`)
}

/**
 * The token, from its own header or from before the placeholder in an API key, and the caller's
 * headers without it.
 *
 * @throws Fault `invalid_token` when there is none, or two that differ
 */
export function takeToken(given: Headers): {
  token: string
  headers: Record<string, string>
} {
  const named = given.get(TOKEN_HEADER)
  const tokens = new Set<string>(named === null ? [] : [named.trim()])
  const headers: Record<string, string> = {}
  for (const [name, value] of headersPassedOn(given)) {
    const bare = name === 'authorization' ? BARE.exec(value)?.[1] : undefined
    if (bare) tokens.add(bare)
    else headers[name] = withoutTokens(name, value, tokens)
  }
  const token = only([...tokens])
  if (Object.entries(headers).some(holdsToken)) {
    throw new Fault('invalid_header', {
      message: 'A header repeats the token where the upstream would see it.',
    })
  }
  return { token, headers }
}

function only([token, ...others]: readonly string[]): string {
  if (token === undefined || others.length > 0) throw new Fault('invalid_token')
  return token
}

/** Cuts `svc_agt_….` out of a value, also inside Basic credentials, and notes which it was. */
function withoutTokens(name: string, value: string, tokens: Set<string>): string {
  const cut = (text: string) =>
    text.replace(EMBEDDED, (_, token: string) => {
      tokens.add(token)
      return ''
    })
  const [, scheme = '', credentials = ''] = (name === 'authorization' && BASIC.exec(value)) || []
  if (scheme === '') return cut(value)
  const decoded = Buffer.from(credentials, 'base64')
  const text = decoded.toString()
  if (!Buffer.from(text).equals(decoded)) return value
  return `${scheme}${Buffer.from(cut(text)).toString('base64')}`
}

/** Also inside Basic credentials, whatever their bytes. */
function holdsToken([name, value]: readonly [string, string]): boolean {
  if (ANYWHERE.test(value)) return true
  const credentials = name === 'authorization' ? BASIC.exec(value)?.[2] : undefined
  if (credentials === undefined) return false
  return ANYWHERE.test(Buffer.from(credentials, 'base64').toString('latin1'))
}

async function readForward(
  context: RequestContext,
  headers: Record<string, string>,
  defaultTimeoutMs: number,
  account: BodyAccount,
): Promise<TokenCall> {
  const { request } = context
  const settings = parsePart(forwardSettings, settingsOf(request.headers))
  const signing = settings.sign ?? null
  const { prefix, rest } = placeOf(request.url)
  const isCall = isGrpcCall(request)
  const isSigned = signing !== null || needsWholeBody(headers, searchOf(rest))
  return {
    call: {
      // As the caller wrote it: what a router decodes or repairs would not be what is judged.
      targetUrl: `https://${rest}`,
      method: request.method,
      headers,
      body:
        isCall && !isSigned
          ? request.body && { stream: request.body, length: null }
          : await bodyOf(request, headers['content-type'], isSigned, account),
      answer: isHandshake(request) ? 'socket' : isCall ? 'grpc' : 'streamed',
      signing,
      linkBase: resolverLinks(prefix, () => context.origin),
      mark: settings.mark ?? null,
    },
    scope: { projectId: settings.project ?? null, environment: settings.environment ?? null },
    timeoutMs: settings.timeout_ms ?? defaultTimeoutMs,
    passesTrace: settings.trace !== undefined,
  }
}

/**
 * The prefix under which a call came, and what follows it: host, path and query as written, but for the colon
 * before a port, which clients made from the OpenAPI document escape.
 */
function placeOf(url: string): { prefix: string; rest: string } {
  const path = url.slice(url.indexOf('/', url.indexOf('//') + 2))
  const prefix = forwardPrefixes.find((one) => path.startsWith(one))
  if (prefix === undefined) throw new Fault('not_found')
  const rest = path.slice(prefix.length).replace(/^([^/?%]*)%3a(\d+)(?=[/?]|$)/i, '$1:$2')
  return { prefix, rest }
}

/** Clients of S3 read nothing but XML. */
function formatOf({ headers, url }: Request): RefusalFormat {
  const signing = forwardSettings.shape.sign.safeParse(headers.get('x-service-sign') ?? undefined)
  const isForS3 = signing.data?.type === 'aws-sigv4' && signing.data.service === 's3'
  return isForS3 ? 'xml' : refusalFormatOf(headers, url)
}

function searchOf(url: string): string {
  const at = url.indexOf('?')
  return at < 0 ? '' : url.slice(at)
}

const settingHeaders = Object.keys(forwardSettings.shape).map(
  (name) => [name, `x-service-${name.replace('_', '-')}`] as const,
)

/** `X-Service-Timeout-Ms` is `timeout_ms`, and so on. */
function settingsOf(headers: Headers): Record<string, string> {
  return Object.fromEntries(
    settingHeaders.flatMap(([name, header]) => {
      const value = headers.get(header)
      return value === null ? [] : [[name, value]]
    }),
  )
}

/**
 * The body: whole where placeholders or a signature have to be put in, or where it may ask for another method (JSON,
 * forms), otherwise as it arrives.
 *
 * @throws Fault `payload_too_large`, `validation_error` for a body with GET or HEAD
 */
async function bodyOf(
  request: Request,
  contentType: string | undefined,
  isSigned: boolean,
  account: BodyAccount,
): Promise<CallBody> {
  if (!isBodyAnnounced(request.headers)) return null
  // The runtime drops such a body without a word.
  if (request.method === 'GET' || request.method === 'HEAD') {
    throw invalidField('body', 'is not possible with GET or HEAD')
  }
  if (request.body === null) return null
  const declared = request.headers.get('content-length')
  const length = declared === null ? null : Number(declared)
  if ((length ?? 0) > BODY_LIMIT) throw tooLarge()
  const isScanned = isSigned || overridableBody(contentType) !== null
  // One that is passed on as it arrives is held as far as the upstream has not taken it.
  const stream = request.body.pipeThrough(bounded(account.expect(isScanned ? length : null)))
  return isScanned ? { bytes: await wholeOf(stream) } : { stream, length }
}

/** A body that breaks off is the caller's fault, whatever the runtime throws for it. */
async function wholeOf(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  try {
    return await new Response(stream).bytes()
  } catch (cause) {
    if (cause instanceof Fault) throw cause
    throw new Fault('malformed_json', { message: 'The request body did not arrive whole.', cause })
  }
}

function bounded(meter: BodyMeter): TransformStream<Uint8Array, Uint8Array> {
  let size = 0
  return new TransformStream({
    transform: (chunk, controller) => {
      size += chunk.length
      if (size > BODY_LIMIT) return controller.error(tooLarge())
      meter.read(chunk.length)
      controller.enqueue(chunk)
    },
  })
}

function tooLarge(): Fault {
  return new Fault('payload_too_large', {
    message: `The request body may have at most ${BODY_LIMIT} bytes.`,
  })
}
