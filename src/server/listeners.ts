/** The two listeners and their routes, over shared identity, limits and audit. */
import type { Access } from '../access/index.ts'
import { reporterOf } from '../access/reporters.ts'
import { storeDenial } from '../audit/changes.ts'
import { consoleRoutes } from '../console/routes.ts'
import { parseCidrs } from '../core/net/cidr.ts'
import { hostCheck, logRefusedHosts } from '../core/net/host.ts'
import { type Doubt, networkNamer, originNamer } from '../core/net/network.ts'
import { RateLimiter } from '../database/limits/rate.ts'
import { openRate } from '../database/limits/shared_rate.ts'
import type { SignedNote } from '../database/signed_notes.ts'
import { ownApprovalRoutes } from '../features/approvals/index.ts'
import { ingestionRoutes } from '../features/audit/ingestion.ts'
import { LiveAudit } from '../features/audit/live.ts'
import { resolverHealthRoutes } from '../features/health/index.ts'
import { securityContactRoutes } from '../features/instance/index.ts'
import { tokenLinkRoutes } from '../features/links/index.ts'
import { type ActivityLog, withActivityStamps } from '../features/metrics/activity.ts'
import { ownProposalRoutes } from '../features/proposals/index.ts'
import { referenceRoutes } from '../features/reference/index.ts'
import { workloadRoutes } from '../features/workloads/index.ts'
import { openPager } from '../http/page.ts'
import type { Surface } from '../http/reply.ts'
import type { Services } from '../http/route.ts'
import { serve } from '../http/serve.ts'
import type { FeatureServices } from '../http/services.ts'
import { openIdentity } from '../identity/authenticate.ts'
import type { Notices } from '../notices/notices.ts'
import type { Renewals } from '../renewal/renewals.ts'
import type { Resolver } from '../resolver/index.ts'
import { controlPlaneRoutes, listDocumented } from './routes.ts'

/** Milliseconds to finish running requests after a stop begins. */
const DRAIN_MS = 30_000

type Parts = Pick<Services, 'storeChanges' | 'onChange' | 'onRequest' | 'tracer'> & {
  resolver: Resolver
  access: Access
  renewals: Renewals
  notices: Notices
  activity: ActivityLog
  /** Writes all unwritten audit records. */
  flushAudit(): Promise<void>
}

export function openListeners(services: FeatureServices, parts: Parts) {
  const { HOST: hostname, PORT, RESOLVER_PORT, ROLE, WORKERS } = services.config
  const socket = { hostname, shared: WORKERS > 1 }
  const { resolver, access, renewals, notices, activity, flushAudit, ...watched } = parts
  const identity = withActivityStamps(openIdentity(services), activity)
  const { chains } = access
  const onSigned = (note: SignedNote) => chains.seen.see(note.name, note)
  const shared = { ...shareServices(services), ...watched, identity, onSigned }
  const live = new LiveAudit(services)
  const routes = controlPlaneRoutes(
    { ...services, chains, notices },
    { activity: () => activity.flush(), audit: flushAudit },
    live,
  )
  const delivering = { ...access, renewals, clock: services.clock }
  const ofTokens = [...workloadRoutes(delivering), ...tokenLinkRoutes(access, services)]
  const reference = (listener: Surface) =>
    referenceRoutes(listener, services.config, () => listDocumented(routes))
  const securityContact = securityContactRoutes(services.config, services.clock)
  const control = serve({
    ...shared,
    surface: 'control-plane',
    routes: [
      ...routes,
      ...reference('control-plane'),
      ...consoleRoutes(),
      ...securityContact,
      ...ingestionRoutes(services, reporterOf(shared, access)),
      ...ofTokens,
    ],
  })
  const outbound = serve({
    ...shared,
    surface: 'resolver',
    routes: [
      ...resolverHealthRoutes(services),
      ...resolver.routes,
      ...ownApprovalRoutes(access, services.db),
      ...ownProposalRoutes({ ...parts, db: services.db, holdsValue: resolver.holdsValue }),
      ...ofTokens,
      ...reference('resolver'),
      ...securityContact,
    ],
  })
  return {
    /** Origins; `null` where ROLE leaves the listener out. */
    controlPlane: ROLE === 'resolver' ? null : control.open({ ...socket, port: PORT }),
    resolver: ROLE === 'control-plane' ? null : outbound.open({ ...socket, port: RESOLVER_PORT }),
    close: () => {
      const closed = Promise.all([control.close(DRAIN_MS), outbound.close(DRAIN_MS)])
      live.close()
      return closed
    },
  }
}

function shareServices(
  services: FeatureServices,
): Omit<Services, 'surface' | 'routes' | 'identity' | 'tracer' | 'storeChanges'> {
  const { db, config, clock, live, log, bodies, isStopping } = services
  const trusted = parseCidrs(config.TRUSTED_PROXIES)
  return {
    db,
    log,
    bodies,
    isStopping,
    storeDenial,
    checkHost: hostCheck(config.ALLOWED_HOSTS, logRefusedHosts(log, clock)),
    networkOf: networkNamer(trusted, (doubt, peer) => log.warning(DOUBTS[doubt], { peer })),
    originOf: originNamer(trusted),
    limits: {
      register: openRate(services, 'register', config.RATE_REGISTER),
      login: openRate(services, 'login', config.RATE_LOGIN),
      api: new RateLimiter(config.RATE_API, clock, live.controlPlanes),
    },
    readPage: openPager(config),
    cronSecret: config.CRON_SECRET,
  }
}

const DOUBTS: Record<Doubt, string> = {
  stranger: 'forwarded by a peer that is not in TRUSTED_PROXIES: its clients share one rate limit',
  nameless:
    'a proxy in TRUSTED_PROXIES sent an invalid client address: its clients share one rate limit',
}
