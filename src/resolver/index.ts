/** Assembles the resolver. */
import { admitToken } from '../access/admission.ts'
import type { Access } from '../access/index.ts'
import { snapshotNow } from '../access/snapshots/snapshot_now.ts'
import type { LiveToken } from '../access/tokens.ts'
import type { Approvals } from '../approvals/approvals.ts'
import type { Timers } from '../core/async/timers.ts'
import { type Domain, domainMatches, parseDomain } from '../core/net/domain.ts'
import { rateHeaders } from '../database/limits/rate.ts'
import { buildCommonHeaders, present } from '../http/reply.ts'
import { createRawRoute, type RequestContext, type Route } from '../http/route.ts'
import type { FeatureServices } from '../http/services.ts'
import { bearerText } from '../identity/authenticate.ts'
import type { Notices } from '../notices/notices.ts'
import { RefusalNotices } from '../notices/refusals.ts'
import type { Outbound } from '../outbound/execute.ts'
import { Scheduler } from '../outbound/scheduler.ts'
import type { Renewals } from '../renewal/renewals.ts'
import { holdsValue } from './approval/holds_value.ts'
import { Bulkheads } from './bulkhead.ts'
import { listCredentials, listDomains, listShapes, resolveCall } from './contract.ts'
import { listUsableCredentials, openListings } from './credentials.ts'
import { Followers } from './followers.ts'
import { forward } from './forward.ts'
import { forwardCalls } from './forwarding/contract.ts'
import { GuardCache } from './guards.ts'
import { CallLimits } from './limits/call_limits.ts'
import { LiveCalls } from './live_calls.ts'
import { resolve } from './resolve.ts'
import type { ResolverServices } from './services.ts'
import { listUsableShapes } from './shapes.ts'

export type Resolver = {
  routes: Route[]
  /** Rechecks running calls after a policy change of one workspace, or of all. */
  recheck(workspaceId?: string): void
  /** Resolves when running responses are searched for all derived values, in one workspace or in all. */
  follow(workspaceId?: string): Promise<void>
  /** Whether a text holds a value that the token's calls could use. */
  holdsValue(token: LiveToken, text: string): Promise<boolean>
  /** Open streams and WebSockets. */
  readonly open: { calls: number; workspaces: number }
  /** Resolves when the tokens' usage is stored. */
  close(): Promise<void>
}

type Options = {
  access: Access
  outbound: Outbound
  renewals: Renewals
  approvals: Approvals
  notices: Notices
  timers: Timers
}

export function openResolver(
  { db, config, clock, live, log, bodies }: FeatureServices,
  { access, outbound, renewals, approvals, notices, timers }: Options,
): Resolver {
  const { steps } = outbound
  const guards = new GuardCache({ keys: access.keys, steps })
  const services: ResolverServices = {
    ...access,
    outbound,
    renewals,
    approvals,
    refusalNotices: new RefusalNotices(notices, clock),
    guards,
    bodies,
    limits: new CallLimits({ db, config, clock, timers, log }),
    scheduler: new Scheduler(),
    bulkheads: new Bulkheads({
      width: config.RESOLVER_CONCURRENCY,
      sharers: live.resolvers,
      timers,
    }),
    followers: new Followers({ ...access, guards, log }),
    liveCalls: new LiveCalls({ ...access, guards, log }, timers),
    listings: openListings(clock),
    deadlines: { wholeMs: config.RESOLVER_TIMEOUT_MS, silenceMs: config.RESOLVER_SILENCE_MS },
    timers,
    log,
  }
  return {
    routes: [
      createRawRoute(resolveCall, (context) => resolve(services, context)),
      createRawRoute(listDomains, (context) => listAllowedDomains(services, context)),
      createRawRoute(listCredentials, (context) => listUsableCredentials(services, context)),
      createRawRoute(listShapes, (context) => listUsableShapes(services, context)),
      ...forwardCalls.map((endpoint) =>
        createRawRoute(endpoint, (context) => forward(services, endpoint, context)),
      ),
    ],
    recheck: (workspaceId) => {
      guards.sweep()
      services.liveCalls.check(workspaceId)
      void services.followers.update(workspaceId)
    },
    follow: (workspaceId) => services.followers.update(workspaceId),
    holdsValue: (token, text) => holdsValue(services, token, text),
    get open() {
      return services.liveCalls.counts
    },
    close: async () => {
      services.liveCalls.close()
      services.keys.close()
      guards.close()
      await services.limits.close()
    },
  }
}

/**
 * Returns the allowlist for a token: the hosts that a proxy must intercept. A token could find the hosts by trying
 * calls. The list saves these calls, and hides a program's other hosts from the resolver.
 *
 * @throws Fault `invalid_token`, `rate_limited`, `scope_required`, and the faults of `snapshotNow`
 */
async function listAllowedDomains(
  services: ResolverServices,
  { request, requestId }: RequestContext,
): Promise<Response> {
  const text = bearerText(request.headers)
  const { token, rate } = await admitToken(services, listDomains, { text, requestId })
  const snapshot = await snapshotNow(services, token)
  const domains = snapshot.allowlist.map(({ text }) => text).filter((text) => isFor(token, text))
  const headers = { ...buildCommonHeaders(requestId), ...rateHeaders(rate) }
  return present(listDomains, { domains }, headers)
}

/** A narrowed token needs only its own hosts. */
function isFor({ hosts }: LiveToken, text: string): boolean {
  if (hosts === null || hosts.includes(text)) return true
  const domain = parseDomain(text)
  return domain !== null && hosts.some((one) => overlap(domain, parseDomain(one)))
}

function overlap(one: Domain, other: Domain | null): boolean {
  if (other === null) return false
  return domainMatches(one, other.host, other.port) || domainMatches(other, one.host, one.port)
}
