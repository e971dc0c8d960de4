/**
 * The remote backend: requests are passed to the resolver unchanged, in forward mode, with the agent's token. Values
 * never reach this machine; the resolver decides, redacts and keeps the audit.
 */
import { ApiError, openApi } from '../client/http/api.ts'
import { UntrustedCertificate } from '../client/http/certificates.ts'
import { serverTrust } from '../client/http/trust.ts'
import { withTimeout } from '../core/async/timeout.ts'
import type { BodyMemory } from '../core/body_memory.ts'
import { Fault } from '../core/fault.ts'
import { PLACEHOLDER_PREFIX } from '../core/names/secret_name.ts'
import { type Domain, domainMatches, parseDomain } from '../core/net/domain.ts'
import { isNotConnected } from '../core/net/not_connected.ts'
import { STRICT_HEADER } from '../core/policy/unfilled.ts'
import { headersPassedOn, isHandshake, isHopByHop } from '../outbound/headers.ts'
import { USER_AGENT } from '../outbound/index.ts'
import { FORWARD_PREFIX, fromStep } from '../outbound/links.ts'
import { mayRepeat, withoutRetry } from '../outbound/retries.ts'
import { AMBIGUOUS } from '../outbound/stand_ins/shaped.ts'
import { listDomains, listShapes, outboundMethods, resolveCall } from '../resolver/contract.ts'
import type { Backend, Inbound, ProxyCredential, ProxyNotice } from './backend.ts'
import { drawLinkName, leadBack } from './lead_back.ts'
import { relayThrough } from './remote_socket.ts'
import { checkMethod, holdShort, wholeOf } from './request.ts'

export type RemoteOptions = {
  /** Origin without a trailing slash. */
  resolver: string
  token: string
  /** Named in each request if the token leaves it open. */
  projectId: string | null
  environment: string | null
  notice: ProxyNotice
  bodies: BodyMemory
  /** The credentials for stand-ins, if they are not read from the resolver. */
  credentials?: Backend['credentials']
  close(): Promise<void>
}

/** Milliseconds for which a read allowlist is valid: for hosts on it, and for others. */
const YES_MS = 60_000
const NO_MS = 5_000
const TIMEOUT_MS = 5_000

export function createRemoteBackend(options: RemoteOptions): Backend {
  return {
    covers: reader(options),
    credentials: options.credentials ?? (() => readShapes(options)),
    execute: (inbound) =>
      isHandshake(inbound.request)
        ? relayThrough(inbound, urlOf(options, inbound), forwardHeaders(options, inbound))
        : forward(options, inbound),
    refused: (asked) => noteRefusal(options, asked),
    bodies: options.bodies,
    close: options.close,
  }
}

/** Reads the allowlist once for all simultaneous requests, and keeps the last one while the resolver is unavailable. */
function reader({ resolver, token, notice }: RemoteOptions): Backend['covers'] {
  let domains: readonly Domain[] = []
  let readAt = Number.NEGATIVE_INFINITY
  let reading: Promise<void> | null = null
  let warned = false
  const read = async () => {
    try {
      domains = await readDomains(resolver, token)
    } catch (error) {
      if (!warned) notice(complaintOf(error))
      warned = true
    }
    readAt = performance.now()
    reading = null
  }
  return async (host, port) => {
    const isOn = () => domains.some((domain) => domainMatches(domain, host, port))
    const age = performance.now() - readAt
    if (age > (isOn() ? YES_MS : NO_MS)) {
      reading ??= read()
      await reading
    }
    return isOn()
  }
}

/** @throws ApiError when the token is refused, another error when the resolver cannot be reached */
async function readDomains(resolver: string, token: string): Promise<Domain[]> {
  const { domains } = await withTimeout(
    TIMEOUT_MS,
    openApi(resolver, () => token).call(listDomains, {}),
    buildLateError,
  )
  return domains.flatMap((text) => parseDomain(text) ?? [])
}

/** Returns the shapes. A name that several projects have gets no shape: a call would not know which secret to use. */
async function readShapes({ resolver, token, projectId, environment }: RemoteOptions) {
  const query = {
    ...(projectId === null ? {} : { project_id: projectId }),
    ...(environment === null ? {} : { environment }),
  }
  const shapes = await openApi(resolver, () => token).call(listShapes, { query })
  const counts = Map.groupBy(shapes, ({ name }) => name)
  return shapes.map(({ name, allowed_locations, shape, setting, reason }): ProxyCredential => {
    const shaped = counts.get(name)?.length === 1 ? { shape, setting, reason } : AMBIGUOUS
    return { name, locations: allowed_locations, ...shaped }
  })
}

/**
 * Makes the resolver record a host that a strict proxy refused. The call is one that step 3 refuses, and that step 4
 * would refuse if the host had been allowed meanwhile, before any connection.
 */
async function noteRefusal(
  { resolver, token }: RemoteOptions,
  { host, port, method }: Parameters<Backend['refused']>[0],
): Promise<void> {
  const headers = { 'x-proxy-refused': PLACEHOLDER_PREFIX }
  const known = outboundMethods.find((one) => one === method)
  const body = { target_url: `https://${host}:${port}/`, headers, ...(known && { method: known }) }
  await withTimeout(
    TIMEOUT_MS,
    openApi(resolver, () => token).call(resolveCall, { body }),
    buildLateError,
  )
}

function buildLateError(): Error {
  return new Error('no response in time')
}

function complaintOf(error: unknown): string {
  const reason =
    error instanceof ApiError ? `returned: ${error.message}` : 'cannot be reached: is it running?'
  if (error instanceof UntrustedCertificate)
    return `no calls are intercepted until the resolver is trusted: ${error.message}`
  return `no calls are intercepted until the resolver returns the allowlist. It ${reason}`
}

async function forward(options: RemoteOptions, inbound: Inbound): Promise<Response> {
  const { request, linkBase } = inbound
  const { bodies } = options
  const method = checkMethod(request)
  const hasBody = request.body !== null && request.headers.get('content-length') !== '0'
  const name = linkBase === null ? null : drawLinkName()
  const response = await send(urlOf(options, inbound), {
    method,
    headers: {
      ...forwardHeaders(options, inbound),
      'x-service-rewrite': name ?? 'none',
      // The runtime adds its own header, which named here ends at the resolver (RFC 9110, section 7.6.1).
      ...(request.headers.has('accept') ? {} : { connection: 'keep-alive, accept' }),
    },
    ...(hasBody ? { body: request.body, duplex: 'half' } : {}),
    redirect: 'manual',
    decompress: false,
    // The resolver's deadline holds, which may be longer than the runtime's.
    timeout: false,
    signal: request.signal,
  } as BunFetchRequestInit & { method: string })
  const headers = Object.fromEntries([...response.headers].filter(([name]) => !isHopByHop(name)))
  if (linkBase !== null && name !== null) {
    const { authority, from = null } = inbound
    return leadBack(response, { received: headers, name, linkBase, authority, from, bodies })
  }
  const held = holdShort(response, bodies)
  if (held) return wholeOf(response, held, headers)
  return new Response(response.body, { status: response.status, headers })
}

async function send(
  url: string,
  init: BunFetchRequestInit & { method: string },
): Promise<Response> {
  try {
    return await fetch(url, { ...init, ...serverTrust() })
  } catch (cause) {
    const fault = new Fault('unavailable', { message: 'The resolver is unreachable.', cause })
    throw mayRepeat(init.method) || isNotConnected(cause) ? fault : withoutRetry(fault)
  }
}

function urlOf(
  { resolver }: RemoteOptions,
  { authority, pathAndQuery, from = null }: Inbound,
): string {
  return `${resolver}${FORWARD_PREFIX}${fromStep(from)}${authority}${pathAndQuery}`
}

function forwardHeaders(
  { token, projectId, environment }: RemoteOptions,
  { request, mark, linkBase }: Inbound,
): Record<string, string> {
  const length = request.headers.get('content-length')
  return {
    'user-agent': USER_AGENT,
    ...Object.fromEntries(headersPassedOn(request.headers)),
    ...(length === null ? {} : { 'content-length': length }),
    'x-service-token': token,
    ...(request.headers.get(STRICT_HEADER) === 'true' ? { [STRICT_HEADER]: 'true' } : {}),
    ...(linkBase === null ? { 'x-service-proxy': 'true' } : {}),
    ...(projectId === null ? {} : { 'x-service-project': projectId }),
    ...(environment === null ? {} : { 'x-service-environment': environment }),
    ...(mark === undefined ? {} : { 'x-service-mark': mark }),
  }
}
