/**
 * Forward mode: `ANY /v1/forward/{host}/{path…}`. An SDK needs only `{resolver}/v1/forward/api.openai.com/v1` as its
 * base URL and `svc_agt_….SVC_SECRET_OPENAI_KEY` as its API key. It sends its usual requests, which go through the same
 * steps as POST /v1/resolve.
 */

import type { z } from 'zod'
import { admitToken } from '../access/admission.ts'
import type { BodyAccount, BodyMeter } from '../core/body_memory.ts'
import { buildFieldFault, Fault } from '../core/fault.ts'
import { isReadForPolicies } from '../core/policy/override_body.ts'
import { parsePart } from '../core/validation/validate.ts'
import type { TokenEndpoint } from '../http/endpoint.ts'
import { presentForwardFault, type RefusalFormat } from '../http/forward_refusal.ts'
import type { RequestContext } from '../http/route.ts'
import { toFault } from '../http/unexpected_error.ts'
import { refuseBrowsers, sandboxAnswer } from '../outbound/browsers.ts'
import { BODY_LIMIT, type CallBody } from '../outbound/call.ts'
import { isGrpcCall } from '../outbound/grpc/frames.ts'
import { isBodyAnnounced, isHandshake } from '../outbound/headers.ts'
import {
  forwardPrefixes,
  type LinkBase,
  proxyLinks,
  readFrom,
  resolverLinks,
} from '../outbound/links.ts'
import { needsWholeBody } from '../outbound/signing/aws_signature.ts'
import { refusalFormatOf } from '../outbound/signing/refusal_format.ts'
import { forwardSettings } from './forwarding/contract.ts'
import { sendsToken, takeToken } from './forwarding/forward_token.ts'
import { deadlineFor, resolveTokenCall, type TokenCall } from './resolve.ts'
import type { Deadlines, ResolverServices } from './services.ts'

/** Sent by a local proxy, for programs that see the real host's name. Browsers never send it automatically. */
const PROXY_HEADER = 'x-service-proxy'

type Settings = z.output<typeof forwardSettings>

/** Milliseconds to wait for an approval, below the timeout of most programs. */
const FORWARD_WAIT_MS = 50_000

export async function forward(
  services: ResolverServices,
  endpoint: TokenEndpoint,
  context: RequestContext,
): Promise<Response | null> {
  const { requestId, request } = context
  const isOfProxy = request.headers.get(PROXY_HEADER) === 'true'
  try {
    if (!isOfProxy) refuseBrowsers(request.headers, sendsToken(request.headers))
    const response = await forwardCall(services, endpoint, context)
    return response && !isOfProxy ? sandboxAnswer(response) : response
  } catch (error) {
    const format = formatOf(request)
    const fault = toFault(error, requestId, services.log)
    return sandboxAnswer(presentForwardFault(fault, requestId, format))
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
  return await resolveTokenCall(services, context, admitted, (_, account) => {
    if (isBodyAnnounced(context.request.headers)) context.expectBytes(BODY_LIMIT)
    return readForward(context, headers, services.deadlines, account)
  })
}

async function readForward(
  context: RequestContext,
  headers: Record<string, string>,
  deadlines: Deadlines,
  account: BodyAccount,
): Promise<TokenCall> {
  const { request } = context
  const settings = parsePart(forwardSettings, settingsOf(request.headers))
  const signing = settings.sign ?? null
  const { prefix, from, rest } = placeOf(request.url)
  const isCall = isGrpcCall(request)
  const isSigned = signing !== null || needsWholeBody(headers, searchOf(rest))
  const isStrict = settings.strict_placeholders === 'true'
  return {
    call: {
      // As the caller wrote it: policies do not apply to a router's decoded or normalised form.
      targetUrl: `https://${rest}`,
      method: request.method,
      headers,
      body:
        isCall && !isSigned
          ? request.body && { stream: request.body, length: null }
          : await bodyOf(request, headers['content-type'], isSigned || isStrict, account),
      answer: isHandshake(request) ? 'socket' : isCall ? 'grpc' : 'streamed',
      signing,
      linkBase: linksFor(
        settings.rewrite,
        resolverLinks(prefix, () => context.origin, from),
      ),
      from,
      mark: settings.mark ?? null,
      isStrict,
      approval: approvalOf(settings),
    },
    scope: { projectId: settings.project ?? null, environment: settings.environment ?? null },
    timeoutMs: deadlineFor(false, settings.timeout_ms, deadlines),
    passesTrace: settings.trace !== undefined,
  }
}

/**
 * Splits a URL: the prefix of the call, the host that linked to it, and the rest. Host, path and query stay as written,
 * except for the colon before a port, which clients generated from the OpenAPI document escape.
 */
function placeOf(url: string): { prefix: string; from: string | null; rest: string } {
  const path = url.slice(url.indexOf('/', url.indexOf('//') + 2))
  const prefix = forwardPrefixes.find((one) => path.startsWith(one))
  if (prefix === undefined) throw new Fault('not_found')
  const { from, rest } = readFrom(path.slice(prefix.length))
  return { prefix, from, rest: rest.replace(/^([^/?%]*)%3a(\d+)(?=[/?]|$)/i, '$1:$2') }
}

function approvalOf({ approval_wait_ms: waitMs = FORWARD_WAIT_MS, reason }: Settings) {
  return { waitMs, reason: reason ?? null }
}

/** A local proxy sends a made-up host, and replaces it by its own address. */
function linksFor(rewrite: string | undefined, own: LinkBase): LinkBase | null {
  if (rewrite === 'none') return null
  if (rewrite === undefined || rewrite === 'body') return own
  return proxyLinks(`https://${rewrite}`, own.from)
}

/** S3 clients only parse XML. */
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
  (name) => [name, `x-service-${name.replaceAll('_', '-')}`] as const,
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
 * Returns the body. It is read whole if `isNeeded`, for a signature or to refuse a placeholder in it before anything is
 * sent; and if it needs placeholders or may override the method or name operations (JSON, forms, unclear types, and
 * GraphQL). Otherwise, it is streamed.
 *
 * @throws Fault `payload_too_large`, `validation_error` for a body with GET or HEAD
 */
async function bodyOf(
  request: Request,
  contentType: string | undefined,
  isNeeded: boolean,
  account: BodyAccount,
): Promise<CallBody> {
  if (!isBodyAnnounced(request.headers)) return null
  // The runtime drops such a body silently.
  if (request.method === 'GET' || request.method === 'HEAD') {
    throw buildFieldFault('body', 'is not possible with GET or HEAD')
  }
  if (request.body === null) return null
  const declared = request.headers.get('content-length')
  const length = declared === null ? null : Number(declared)
  if ((length ?? 0) > BODY_LIMIT) throw buildTooLargeFault()
  const isScanned = isNeeded || isReadForPolicies(contentType)
  // A streamed body counts until the upstream has accepted it.
  const stream = request.body.pipeThrough(boundBody(account.expect(isScanned ? length : null)))
  return isScanned ? { bytes: await wholeOf(stream) } : { stream, length }
}

/** An incomplete body is the caller's fault, whatever error the runtime throws. */
async function wholeOf(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  try {
    return await new Response(stream).bytes()
  } catch (cause) {
    if (cause instanceof Fault) throw cause
    throw new Fault('malformed_json', { message: 'The request body is incomplete.', cause })
  }
}

function boundBody(meter: BodyMeter): TransformStream<Uint8Array, Uint8Array> {
  let size = 0
  return new TransformStream({
    transform: (chunk, controller) => {
      size += chunk.length
      if (size > BODY_LIMIT) return controller.error(buildTooLargeFault())
      meter.read(chunk.length)
      controller.enqueue(chunk)
    },
  })
}

function buildTooLargeFault(): Fault {
  return new Fault('payload_too_large', {
    message: `The request body may have at most ${BODY_LIMIT} bytes.`,
  })
}
