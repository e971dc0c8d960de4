/**
 * The remote carrier: requests go to the resolver as they are, in forward mode, with the agent's token.
 * Values never come to this machine; the resolver decides, redacts and keeps the audit.
 */
import { ApiError } from '../client/api.ts'
import { Fault } from '../kernel/fault.ts'
import { resolveCall } from '../resolver/contract.ts'
import { FORWARD_PREFIX } from '../resolver/forward_links.ts'
import { isHopByHop } from '../resolver/headers.ts'
import type { Carrier, Inbound, Notice } from './carrier.ts'
import { restoreLinks } from './links.ts'
import { relayThrough } from './remote_socket.ts'
import { checkMethod, headersOf, isHandshake } from './request.ts'

export type RemoteOptions = {
  /** Origin without a trailing slash. */
  resolver: string
  token: string
  /** Named in each request where the token leaves it open. */
  projectId: string | null
  environment: string | null
  notice: Notice
  close(): Promise<void>
}

/** Milliseconds for which the resolver's word on a host holds: its `yes`, its `no`. */
const YES_MS = 5 * 60_000
const NO_MS = 60_000
const PATIENCE_MS = 5_000

type Word = { covered: boolean; until: number }

export function remoteCarrier(options: RemoteOptions): Carrier {
  return {
    covers: questioner(options),
    carry: (inbound) =>
      isHandshake(inbound.request)
        ? relayThrough(inbound, urlOf(options, inbound), forwardHeaders(options, inbound.request))
        : forward(options, inbound),
    // The resolver noted it itself, when it was asked.
    refused: async () => {},
    close: options.close,
  }
}

/** Asks about a host once, however many want to know, and while nobody answers keeps to the last word. */
function questioner(options: RemoteOptions): Carrier['covers'] {
  const words = new Map<string, Word>()
  const asking = new Map<string, Promise<boolean>>()
  let warned = false
  const ask = async (name: string): Promise<boolean> => {
    try {
      const covered = await isOnAllowlist(options, name)
      words.set(name, { covered, until: Date.now() + (covered ? YES_MS : NO_MS) })
      return covered
    } catch (error) {
      if (!warned) options.notice(complaintOf(error))
      warned = true
      return words.get(name)?.covered ?? false
    }
  }
  return async (host, port) => {
    const name = `${host}:${port}`
    const known = words.get(name)
    if (known && known.until > Date.now()) return known.covered
    const question = asking.get(name) ?? ask(name).finally(() => asking.delete(name))
    asking.set(name, question)
    return question
  }
}

/**
 * An agent's token cannot read the allowlist, so the resolver is asked in its own terms: a call with a
 * placeholder that is none is refused in step 4, before any connection, and in step 3 if the host is
 * not allowed. It leaves a record of that.
 *
 * @throws ApiError when the token is refused, another error when the resolver cannot be reached
 */
async function isOnAllowlist({ resolver, token }: RemoteOptions, host: string): Promise<boolean> {
  const response = await fetch(`${resolver}${resolveCall.path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      target_url: `https://${host}/`,
      headers: { 'x-proxy-question': 'SVC_SECRET_' },
    }),
    signal: AbortSignal.timeout(PATIENCE_MS),
  })
  const answer = (await response.json()) as { error_code?: string }
  if (answer.error_code === 'invalid_header') return true
  if (answer.error_code === 'domain_blocked') return false
  throw new ApiError(response.status, answer)
}

function complaintOf(error: unknown): string {
  const reason =
    error instanceof ApiError ? `says: ${error.message}` : 'cannot be reached: is it running?'
  return `the resolver ${reason} Until it answers, nothing is intercepted.`
}

async function forward(options: RemoteOptions, inbound: Inbound): Promise<Response> {
  const { request, linkBase } = inbound
  const method = checkMethod(request)
  const hasBody = request.body !== null && request.headers.get('content-length') !== '0'
  const response = await send(urlOf(options, inbound), {
    method,
    headers: forwardHeaders(options, request),
    ...(hasBody ? { body: request.body, duplex: 'half' } : {}),
    redirect: 'manual',
    decompress: false,
    signal: request.signal,
  } as BunFetchRequestInit)
  const headers = new Headers([...response.headers].filter(([name]) => !isHopByHop(name)))
  restoreLinks(headers, linkBase)
  return new Response(response.body, { status: response.status, headers })
}

async function send(url: string, init: BunFetchRequestInit): Promise<Response> {
  try {
    return await fetch(url, init)
  } catch (cause) {
    throw new Fault('unavailable', { message: 'The resolver cannot be reached.', cause })
  }
}

function urlOf({ resolver }: RemoteOptions, { authority, pathAndQuery }: Inbound): string {
  return `${resolver}${FORWARD_PREFIX}${authority}${pathAndQuery}`
}

function forwardHeaders(
  { token, projectId, environment }: RemoteOptions,
  request: Request,
): Record<string, string> {
  const length = request.headers.get('content-length')
  return {
    ...headersOf(request.headers),
    ...(length === null ? {} : { 'content-length': length }),
    'x-service-token': token,
    ...(projectId === null ? {} : { 'x-service-project': projectId }),
    ...(environment === null ? {} : { 'x-service-environment': environment }),
  }
}
