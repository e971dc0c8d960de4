/** Identifies the caller: rate limits and authentication, from headers alone. */
import { timingSafeEqual } from 'node:crypto'
import { sha256 } from '../core/crypto/primitives.ts'
import { Fault } from '../core/fault.ts'
import type { Caller } from '../core/grant.ts'
import { rateHeaders } from '../database/limits/rate.ts'
import { consoleCookies } from './console_cookies.ts'
import type { Endpoint, EndpointAccess } from './endpoint.ts'
import type { Recalled, RequestContext, Services } from './route.ts'
import { resourceOf } from './tenant.ts'

/** Rate limits and authentication; adds the rate's headers to the response. */
export async function admit(
  { limits, identity, cronSecret }: Services,
  access: EndpointAccess,
  { request, network }: RequestContext,
  headers: Record<string, string>,
): Promise<Caller | undefined> {
  if (access.kind === 'public') {
    if (access.rate) Object.assign(headers, rateHeaders(await limits[access.rate].take(network)))
    if (access.console && !consoleCookies(request.headers)) throw buildNotConsoleError()
    return undefined
  }
  if (access.kind === 'cron') {
    Object.assign(headers, rateHeaders(await limits.login.take(network)))
    checkCronSecret(cronSecret, request.headers)
    return undefined
  }
  const caller = await identity.authenticate(request.headers)
  const isCounted = 'ratelimit' in headers
  if (!isCounted) Object.assign(headers, rateHeaders(await limits.api.take(caller.sessionId)))
  if (access.kind === 'session' && access.instanceOwner && !caller.isInstanceOwner)
    throw new Fault('forbidden', { message: 'Only the server owner can call this.' })
  return caller
}

function buildNotConsoleError(): Fault {
  return new Fault('forbidden', { message: 'Only the console can call this.' })
}

/** The cached result of an earlier request about a member; `null` without one. */
export function recall(
  { identity }: Services,
  { access }: Endpoint,
  received: RequestContext,
): Recalled | null {
  if (access.kind !== 'member') return null
  try {
    const resource = resourceOf(access.tenant, received, undefined)
    return identity.recall(received.request.headers, access.permission, resource)
  } catch (error) {
    if (error instanceof Fault) return null
    throw error
  }
}

/** @throws Fault `not_found` without CRON_SECRET, `invalid_token` */
function checkCronSecret(secret: string | undefined, headers: Headers): void {
  if (!secret) throw new Fault('not_found')
  const [, presented = ''] = /^Bearer +(.+)$/i.exec(headers.get('authorization') ?? '') ?? []
  // Hashes have one length, so that the time does not depend on the secret's.
  if (!timingSafeEqual(sha256(presented), sha256(secret))) throw new Fault('invalid_token')
}
