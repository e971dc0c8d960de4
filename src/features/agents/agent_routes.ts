/** Agents of a workspace or of one project. Deleting one revokes all it holds, in the same moment. */
import type { OuterLayer } from '../../platform/crypto/outer_layer.ts'
import type { Transaction } from '../../platform/db/open.ts'
import { lockWorkspace } from '../../platform/db/workspace_lock.ts'
import { Fault } from '../../platform/fault.ts'
import type { Grant } from '../../platform/grant.ts'
import { openPager } from '../../platform/http/page.ts'
import { type Changing, type Route, route } from '../../platform/http/route.ts'
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
import { revocations } from './tokens.ts'

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
    route(registerAgent, ({ body, ...changing }) => register(changing, outer, null, body)),
    route(registerProjectAgent, ({ body, ...changing }) =>
      register(changing, outer, changing.grant.projectId, body),
    ),
    route(listAgents, ({ tx, grant, query }) => list(tx, grant, query)),
    route(listProjectAgents, ({ tx, grant, query }) => list(tx, grant, query)),
    route(getAgent, async ({ tx, grant, params }) => {
      const agent = await selectAgent(tx, grant, params.registration_id)
      if (!agent) throw new Fault('not_found')
      return agent
    }),
    route(deleteAgent, async ({ params, ...changing }) => {
      await remove(changing, params.registration_id)
      return undefined
    }),
  ]
}

async function register(
  changing: Changing<Manage>,
  outer: OuterLayer,
  projectId: string | null,
  { name, ...order }: Order & { name: string },
) {
  const { tx, grant, audit } = changing
  const { epoch } = await lockWorkspace(tx, grant)
  const agent = await insertAgent(tx, grant, { name, projectId })
  if (!agent) throw new Fault('already_exists', { message: 'An agent of that name exists.' })
  audit.record({
    action: 'agent.created',
    resource: { type: 'agent', id: agent.id, name },
    projectId: projectId ?? undefined,
  })
  const holder = { kind: 'agent', agentId: agent.id, projectId } as const
  const issued = await issueToken(changing, outer, { holder, order, epoch })
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

async function remove({ tx, grant, audit }: Changing<Manage>, agentId: string): Promise<void> {
  await lockWorkspace(tx, grant)
  const agent = await markDeleted(tx, grant, agentId)
  if (!agent) throw new Fault('not_found')
  const { projectId } = agent
  const revoked = await revokeTokens(tx, grant, { kind: 'agent', agentId, projectId })
  audit.record(
    {
      action: 'agent.deleted',
      resource: { type: 'agent', id: agentId, name: agent.name },
      projectId: projectId ?? undefined,
    },
    ...revocations(revoked),
  )
}
