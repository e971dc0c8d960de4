/** Agents of a workspace or of one project. Deleting one revokes all its tokens, in the same transaction. */

import { buildFieldFault, Fault } from '../../core/fault.ts'
import type { Grant, ProjectGrant } from '../../core/grant.ts'
import { skeletonOf } from '../../core/names/look_alike.ts'
import { countHourly } from '../../database/limits/hourly_quota.ts'
import { requireQuota } from '../../database/limits/quota.ts'
import { lockWorkspace } from '../../database/workspace_lock.ts'
import { type Changing, listRoute, type Route, route } from '../../http/route.ts'
import { type Chain, isSignedId, type SignedText } from '../../sigchain/index.ts'
import { acceptLink, type Claim, chainOf, type SignedServices } from '../links/index.ts'
import {
  deleteAgent,
  getAgent,
  listAgents,
  listProjectAgents,
  registerAgent,
  registerProjectAgent,
} from './contract.ts'
import { issueToken } from './issue.ts'
import { insertAgent, markDeleted, selectAgent, selectAgents, selectNames } from './queries.ts'
import type { Order } from './shapes.ts'
import { revokeTokens } from './token_queries.ts'
import { revocations } from './tokens.ts'

/** The project, if the path has one. */
type Manage = Grant<'agent.manage'> | ProjectGrant<'agent.manage'>

export function agentRoutes(services: SignedServices): Route[] {
  return [
    ...[registerAgent, registerProjectAgent].map((endpoint) =>
      route(endpoint, ({ body, ...changing }) => register(changing, services, body)),
    ),
    ...[listAgents, listProjectAgents].map((endpoint) =>
      listRoute(endpoint, ({ tx, grant }) => {
        const projectId = projectOf(grant)
        return {
          name: `agents ${projectId ?? grant.workspaceId}`,
          read: (page) => selectAgents(tx, grant, { projectId, ...page }),
          sortKey: ({ id }) => [id],
          open: (rows) => rows.map(showAgent),
        }
      }),
    ),
    route(getAgent, async ({ tx, grant, params }) => {
      const agent = await selectAgent(tx, grant, params.registration_id)
      if (!agent) throw new Fault('not_found')
      return showAgent(agent)
    }),
    route(deleteAgent, ({ params, body: { link }, ...changing }) =>
      remove(changing, services, { agentId: params.registration_id, link }),
    ),
  ]
}

function projectOf(grant: Manage): string | null {
  return 'projectId' in grant ? grant.projectId : null
}

async function register(
  changing: Changing<Manage>,
  services: SignedServices,
  { id: chosen, name, ...order }: Order & { id?: string | undefined; name: string },
) {
  const { tx, grant, audit } = changing
  const projectId = projectOf(grant)
  if (chosen !== undefined && !isSignedId(grant.workspaceId))
    throw buildFieldFault('id', 'is not a field of this request')
  const id = chosen ?? Bun.randomUUIDv7()
  const [{ epoch }, names] = await Promise.all([
    lockWorkspace(tx, grant),
    selectNames(tx, grant, projectId),
  ])
  refuseTaken(name, names)
  audit.record({
    action: 'agent.created',
    resource: { type: 'agent', id, name },
    registrationId: id,
    projectId: projectId ?? undefined,
  })
  const [agent] = await Promise.all([
    insertAgent(tx, grant, { id, name, projectId }),
    requireQuota(tx, services.config, 'agents', grant.workspaceId),
    countHourly(tx, services, 'created', grant.userId),
  ])
  if (!agent) throw new Fault('already_exists', { message: 'The agent ID is already used.' })
  const holder = { kind: 'agent', agent, projectId } as const
  const issued = await issueToken(changing, services, { holder, order, epoch })
  return { ...issued, agent: showNewAgent(agent) }
}

/**
 * Agents of two projects may share a name. One that only looks like another agent's is refused in the whole workspace, because
 * lists and the audit show names of all projects beside each other.
 *
 * @throws Fault `already_exists`
 */
function refuseTaken(name: string, existing: readonly { name: string; here: boolean }[]): void {
  if (existing.some((other) => other.here && other.name === name))
    throw new Fault('already_exists', { message: 'An agent with this name already exists.' })
  const skeleton = skeletonOf(name)
  const other = existing.find((agent) => agent.name !== name && skeletonOf(agent.name) === skeleton)
  if (!other) return
  const message = `The name looks like the existing agent ${JSON.stringify(other.name)}. Choose a clearly different name.`
  throw new Fault('already_exists', { message })
}

function showAgent({
  has_more_tokens,
  ...agent
}: NonNullable<Awaited<ReturnType<typeof selectAgent>>>) {
  return has_more_tokens ? { ...agent, has_more_tokens: true as const } : agent
}

function showNewAgent(agent: {
  id: string
  name: string
  projectId: string | null
  createdAt: Date
}) {
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

/** A link is not demanded, for stopping is always allowed; only with one it outlasts the database. */
async function remove(
  changing: Changing<Manage>,
  services: SignedServices,
  { agentId, link }: { agentId: string; link: SignedText | undefined },
): Promise<undefined> {
  const { tx, grant, audit } = changing
  await lockWorkspace(tx, grant)
  const [agent, revoked] = await Promise.all([
    markDeleted(tx, grant, agentId),
    revokeTokens(tx, grant, { kind: 'agent', agent: { id: agentId } }),
  ])
  if (!agent) throw new Fault('not_found')
  const { projectId } = agent
  if (link) {
    const chain = await chainOf(changing, services)
    await acceptLink(changing, chain, link, claimOf(revoked, chain))
  }
  audit.record(
    {
      action: 'agent.deleted',
      resource: { type: 'agent', id: agentId, name: agent.name },
      registrationId: agentId,
      projectId: projectId ?? undefined,
    },
    ...revocations(revoked, { agent }),
  )
}

/**
 * All that were live, but for those that a link has revoked and a row has not. Of another version no token is one of a
 * signed workspace.
 */
function claimOf(revoked: readonly { id: string }[], chain: Chain | null): Claim | null {
  const ids = new Set(revoked.map(({ id }) => id).filter(isSignedId))
  const token_ids = [...ids.difference(chain?.revokedTokens ?? new Set())]
  return token_ids.length > 0 ? { type: 'tokens.revoked', body: { token_ids } } : null
}
