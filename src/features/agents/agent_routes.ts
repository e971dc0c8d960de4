/** Agents of a workspace or of one project. Deleting one revokes all it holds, in the same moment. */
import { recordChanges } from '../../audit/changes.ts'
import type { OuterLayer } from '../../platform/crypto/outer_layer.ts'
import type { Transaction } from '../../platform/db/open.ts'
import { lockWorkspace } from '../../platform/db/workspace_lock.ts'
import { Fault } from '../../platform/fault.ts'
import type { Grant } from '../../platform/grant.ts'
import { openPager } from '../../platform/http/page.ts'
import { type Route, route } from '../../platform/http/route.ts'
import type { FeatureServices } from '../../platform/services.ts'
import {
  deleteAgent,
  getAgent,
  listAgents,
  listProjectAgents,
  registerAgent,
  registerProjectAgent,
} from './contract.ts'
import { issueToken } from './issue.ts'
import { insertAgent, markDeleted, selectAgent, selectAgents } from './queries.ts'
import type { Order } from './shapes.ts'
import { revokeTokens } from './token_queries.ts'
import { recordRevoked } from './tokens.ts'

type Manage = Grant<'agent.manage'>

export function agentRoutes({ outer, config }: FeatureServices): Route[] {
  const pager = openPager(config)
  const list = async (
    tx: Transaction,
    grant: Manage & { projectId?: string },
    { limit, cursor }: { limit: number; cursor?: string | undefined },
  ) => {
    const name = `agents ${grant.projectId ?? grant.workspaceId}`
    const [after] = pager.start(name, cursor) ?? []
    const within = grant.projectId === undefined ? {} : { projectId: grant.projectId }
    const rows = await selectAgents(tx, grant, { ...within, after, limit })
    return pager.cut(
      name,
      rows,
      limit,
      (row) => [row.id],
      (row) => row,
    )
  }
  return [
    route(registerAgent, ({ tx, grant, body }) => register(tx, grant, outer, null, body)),
    route(registerProjectAgent, ({ tx, grant, body }) =>
      register(tx, grant, outer, grant.projectId, body),
    ),
    route(listAgents, ({ tx, grant, query }) => list(tx, grant, query)),
    route(listProjectAgents, ({ tx, grant, query }) => list(tx, grant, query)),
    route(getAgent, async ({ tx, grant, params }) => {
      const agent = await selectAgent(tx, grant, params.registration_id)
      if (!agent) throw new Fault('not_found')
      return agent
    }),
    route(deleteAgent, async ({ tx, grant, params }) => {
      await remove(tx, grant, params.registration_id)
      return undefined
    }),
  ]
}

async function register(
  tx: Transaction,
  grant: Manage,
  outer: OuterLayer,
  projectId: string | null,
  { name, ...order }: Order & { name: string },
) {
  const { epoch } = await lockWorkspace(tx, grant)
  const agent = await insertAgent(tx, grant, { name, projectId })
  if (!agent) throw new Fault('already_exists', { message: 'An agent of that name exists.' })
  await recordChanges(tx, grant, [
    {
      action: 'agent.created',
      resource: { type: 'agent', id: agent.id, name },
      projectId: projectId ?? undefined,
    },
  ])
  const holder = { kind: 'agent', agentId: agent.id, projectId } as const
  const issued = await issueToken(tx, grant, outer, { holder, order, epoch })
  return { ...issued, agent: shownNew(agent) }
}

function shownNew(agent: { id: string; name: string; projectId: string | null; createdAt: Date }) {
  return {
    id: agent.id,
    name: agent.name,
    project_id: agent.projectId,
    token_count: 1,
    active_token_count: 1,
    last_used_at: null,
    created_at: agent.createdAt,
  }
}

async function remove(tx: Transaction, grant: Manage, agentId: string): Promise<void> {
  await lockWorkspace(tx, grant)
  const agent = await markDeleted(tx, grant, agentId)
  if (!agent) throw new Fault('not_found')
  const { projectId } = agent
  const revoked = await revokeTokens(tx, grant, { kind: 'agent', agentId, projectId })
  await recordChanges(tx, grant, [
    {
      action: 'agent.deleted',
      resource: { type: 'agent', id: agentId, name: agent.name },
      projectId: projectId ?? undefined,
    },
  ])
  await recordRevoked(tx, grant, revoked)
}
