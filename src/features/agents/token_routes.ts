/** The tokens of one holder: of an agent, or of the workloads of a project. */

import { Fault } from '../../core/fault.ts'
import type { Grant, ProjectGrant } from '../../core/grant.ts'
import type { Reading, Transaction } from '../../database/open.ts'
import { lockWorkspace } from '../../database/workspace_lock.ts'
import { listRoute, type Route, route } from '../../http/route.ts'
import type { SignedServices } from '../links/index.ts'
import {
  grantAgentToken,
  grantWorkloadToken,
  issueAgentToken,
  issueWorkloadToken,
  listAgentTokens,
  listWorkloadTokens,
  provisionAgentToken,
  provisionWorkloadToken,
  revokeAgentToken,
  revokeWorkloadToken,
  unprovisionAgentToken,
  unprovisionWorkloadToken,
} from './contract.ts'
import { issueToken } from './issue.ts'
import { selectAgent } from './queries.ts'
import { type Holder, selectTokens } from './token_queries.ts'
import {
  grantToken,
  type LockedHolder,
  presentToken,
  provisionToken,
  revokeToken,
  unprovisionToken,
} from './tokens.ts'

const ofAgents = {
  issue: issueAgentToken,
  list: listAgentTokens,
  revoke: revokeAgentToken,
  provision: provisionAgentToken,
  grant: grantAgentToken,
  unprovision: unprovisionAgentToken,
}

const ofWorkloads = {
  issue: issueWorkloadToken,
  list: listWorkloadTokens,
  revoke: revokeWorkloadToken,
  provision: provisionWorkloadToken,
  grant: grantWorkloadToken,
  unprovision: unprovisionWorkloadToken,
}

export function tokenRoutes(services: SignedServices): Route[] {
  return [ofAgents, ofWorkloads].flatMap((endpoints) => routesOf(endpoints, services))
}

function routesOf(
  endpoints: typeof ofAgents | typeof ofWorkloads,
  services: SignedServices,
): Route[] {
  return [
    route(endpoints.issue, async ({ params, body, ...changing }) =>
      issueToken(changing, services, { ...(await lockHolder(changing, params)), order: body }),
    ),
    listRoute(endpoints.list, async ({ tx, grant, params }) => {
      const holder = await holderOf({ tx, grant }, params)
      return {
        name: `tokens ${holder.agent?.id ?? holder.projectId}`,
        read: (page) => selectTokens(tx, grant, holder, page),
        sortKey: ({ created_at, id }) => [created_at.toISOString(), id],
        open: (rows) => rows.map((row) => presentToken(row, grant.workspaceId)),
      }
    }),
    route(endpoints.revoke, async ({ params, body: { link }, ...changing }) => {
      const held = await lockHolder(changing, params)
      return revokeToken(changing, services, held, { id: params.token_id, link })
    }),
    route(endpoints.provision, async ({ params, body, ...changing }) => {
      const held = await lockHolder(changing, params)
      return provisionToken(changing, services, held, { id: params.token_id, envelopes: body })
    }),
    route(endpoints.grant, async ({ params, body, ...changing }) => {
      const held = await lockHolder(changing, params)
      return grantToken(changing, services, held, { id: params.token_id, ...body })
    }),
    route(endpoints.unprovision, async ({ params, query, ...changing }) => {
      const held = await lockHolder(changing, params)
      return unprovisionToken(changing, held, { id: params.token_id, place: query })
    }),
  ]
}

type Within<Tx = Transaction> = {
  tx: Tx
  grant: Grant<'agent.manage'> | ProjectGrant<'agent.manage'>
}
type Named = { registration_id: string } | { project_id: string }

/** An agent is read under the lock: else one that is being deleted could get a token that lives on. */
async function lockHolder(within: Within, named: Named): Promise<LockedHolder> {
  const [{ epoch }, holder] = await Promise.all([
    lockWorkspace(within.tx, within.grant),
    holderOf(within, named),
  ])
  return { epoch, holder }
}

async function holderOf({ tx, grant }: Within<Reading>, named: Named): Promise<Holder> {
  if ('projectId' in grant) return { kind: 'workload', agent: null, projectId: grant.projectId }
  const agent = 'registration_id' in named && (await selectAgent(tx, grant, named.registration_id))
  if (!agent) throw new Fault('not_found')
  return { kind: 'agent', agent, projectId: agent.project_id }
}
