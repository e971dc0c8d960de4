/** The tokens of one holder: of an agent, or of the workloads of a project. */

import type { Transaction } from '../../platform/db/open.ts'
import { lockWorkspace } from '../../platform/db/workspace_lock.ts'
import { Fault } from '../../platform/fault.ts'
import type { Grant, ProjectGrant } from '../../platform/grant.ts'
import { openPager } from '../../platform/http/page.ts'
import { type Route, route } from '../../platform/http/route.ts'
import type { FeatureServices } from '../../platform/services.ts'
import {
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
import type { Holder } from './token_queries.ts'
import { type Held, listTokens, provisionToken, revokeToken, unprovisionToken } from './tokens.ts'

type Manage = Grant<'agent.manage'>

export function agentTokenRoutes({ outer, config }: FeatureServices): Route[] {
  const pager = openPager(config)
  return [
    route(issueAgentToken, async ({ params, body, ...changing }) =>
      issueToken(changing, outer, { ...(await lockAgent(changing, params)), order: body }),
    ),
    route(listAgentTokens, async ({ tx, grant, params, query }) =>
      listTokens(tx, grant, pager, await agentOf(tx, grant, params), query),
    ),
    route(revokeAgentToken, async ({ params, ...changing }) =>
      revokeToken(changing, await lockAgent(changing, params), params.token_id),
    ),
    route(provisionAgentToken, async ({ params, body, ...changing }) => {
      const held = await lockAgent(changing, params)
      return provisionToken(changing, outer, held, { id: params.token_id, envelopes: body })
    }),
    route(unprovisionAgentToken, async ({ params, query, ...changing }) => {
      const held = await lockAgent(changing, params)
      return unprovisionToken(changing, held, { id: params.token_id, place: query })
    }),
  ]
}

export function workloadTokenRoutes({ outer, config }: FeatureServices): Route[] {
  const pager = openPager(config)
  return [
    route(issueWorkloadToken, async ({ body, ...changing }) =>
      issueToken(changing, outer, { ...(await lockWorkloads(changing)), order: body }),
    ),
    route(listWorkloadTokens, ({ tx, grant, query }) =>
      listTokens(tx, grant, pager, workloadsOf(grant), query),
    ),
    route(revokeWorkloadToken, async ({ params, ...changing }) =>
      revokeToken(changing, await lockWorkloads(changing), params.token_id),
    ),
    route(provisionWorkloadToken, async ({ params, body, ...changing }) => {
      const held = await lockWorkloads(changing)
      return provisionToken(changing, outer, held, { id: params.token_id, envelopes: body })
    }),
    route(unprovisionWorkloadToken, async ({ params, query, ...changing }) => {
      const held = await lockWorkloads(changing)
      return unprovisionToken(changing, held, { id: params.token_id, place: query })
    }),
  ]
}

/** The agent is read under the lock: else one that is being deleted could get a token that lives on. */
async function lockAgent(
  { tx, grant }: { tx: Transaction; grant: Manage },
  params: { registration_id: string },
): Promise<Held> {
  const { epoch } = await lockWorkspace(tx, grant)
  return { epoch, holder: await agentOf(tx, grant, params) }
}

async function agentOf(
  tx: Transaction,
  grant: Manage,
  { registration_id }: { registration_id: string },
): Promise<Holder> {
  const agent = await selectAgent(tx, grant, registration_id)
  if (!agent) throw new Fault('not_found')
  return { kind: 'agent', agentId: agent.id, projectId: agent.project_id }
}

async function lockWorkloads({
  tx,
  grant,
}: {
  tx: Transaction
  grant: ProjectGrant<'agent.manage'>
}): Promise<Held> {
  const { epoch } = await lockWorkspace(tx, grant)
  return { epoch, holder: workloadsOf(grant) }
}

function workloadsOf({ projectId }: ProjectGrant<'agent.manage'>): Holder {
  return { kind: 'workload', projectId }
}
