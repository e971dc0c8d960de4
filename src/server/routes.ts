/** All routes of the product by listener; also read by the role matrix and the documentation. */
import { accountsRoutes, openAccountServices } from '../features/accounts/index.ts'
import { agentsRoutes } from '../features/agents/index.ts'
import { allowlistRoutes } from '../features/allowlist/index.ts'
import { getOwnApproval } from '../features/approvals/contract.ts'
import { approvalRoutes } from '../features/approvals/index.ts'
import { attentionRoutes } from '../features/attention/index.ts'
import { recordAuditLogs } from '../features/audit/contract.ts'
import { auditRoutes } from '../features/audit/index.ts'
import type { LiveAudit } from '../features/audit/live.ts'
import { getResolverHealth } from '../features/health/contract.ts'
import { healthRoutes } from '../features/health/index.ts'
import { instanceRoutes } from '../features/instance/index.ts'
import { listLinksForToken } from '../features/links/contract.ts'
import { linkRoutes, type SignedServices } from '../features/links/index.ts'
import { metricsRoutes } from '../features/metrics/index.ts'
import { noticeRoutes } from '../features/notices/index.ts'
import { passkeyRoutes } from '../features/passkeys/index.ts'
import { projectRoutes } from '../features/projects/index.ts'
import { createProposal, getOwnProposal } from '../features/proposals/contract.ts'
import { proposalRoutes } from '../features/proposals/index.ts'
import { secretRoutes } from '../features/secrets/index.ts'
import { usageRoutes } from '../features/usage/index.ts'
import { deliverEnvironment, getToken, getVersion } from '../features/workloads/contract.ts'
import { workspaceRoutes } from '../features/workspaces/index.ts'
import type { Documented } from '../http/openapi/document.ts'
import type { Route } from '../http/route.ts'
import { listCredentials, listDomains, listShapes, resolveCall } from '../resolver/contract.ts'
import { forwardCalls } from '../resolver/forwarding/contract.ts'

/** Write this process's pending data before a route reads it. */
export type Flushes = { activity: () => Promise<void>; audit: () => Promise<void> }

/** Returns all routes of the control plane, except those for tokens and its documentation. */
export function controlPlaneRoutes(
  services: SignedServices,
  flushes: Flushes,
  live: LiveAudit,
): Route[] {
  const accounts = openAccountServices(services)
  return [
    ...healthRoutes(services, () => {}),
    ...instanceRoutes(services),
    ...accountsRoutes(services, accounts),
    ...passkeyRoutes(services, accounts),
    ...workspaceRoutes(services),
    ...linkRoutes(services),
    ...allowlistRoutes(services),
    ...projectRoutes(services),
    ...agentsRoutes(services),
    ...noticeRoutes(services),
    ...secretRoutes(services),
    ...approvalRoutes(services),
    ...proposalRoutes(),
    ...attentionRoutes(),
    ...auditRoutes(services, flushes.audit),
    ...usageRoutes(services, flushes.audit),
    ...live.routes,
    ...metricsRoutes(services, async () => {
      await Promise.all([flushes.activity(), flushes.audit()])
    }),
  ]
}

/** Returns the documented endpoints of both listeners. */
export function listDocumented(routes: readonly Route[]): Documented[] {
  return [
    {
      surface: 'control-plane',
      endpoints: [
        ...routes.map(({ endpoint }) => endpoint),
        recordAuditLogs,
        deliverEnvironment,
        getToken,
        getVersion,
        listLinksForToken,
      ],
    },
    {
      surface: 'resolver',
      endpoints: [
        getResolverHealth,
        resolveCall,
        listDomains,
        listCredentials,
        listShapes,
        getOwnApproval,
        createProposal,
        getOwnProposal,
        ...forwardCalls,
        deliverEnvironment,
        getToken,
        getVersion,
        listLinksForToken,
      ],
    },
  ]
}
