/** Projects: the names under which secrets are kept. Who may do what follows the workspace's roles. */

import type { QuotaConfig } from '../../core/config/quotas.ts'
import { Fault } from '../../core/fault.ts'
import type { Grant, ProjectGrant } from '../../core/grant.ts'
import { isUniqueViolation } from '../../database/errors.ts'
import { countHourly } from '../../database/limits/hourly_quota.ts'
import { requireQuota } from '../../database/limits/quota.ts'
import type { Reading } from '../../database/open.ts'
import { lockWorkspace } from '../../database/workspace_lock.ts'
import { type Change, toTokenResource } from '../../http/recorder.ts'
import { type Reply, replyCreated } from '../../http/reply.ts'
import { type Changing, listRoute, type Route, route } from '../../http/route.ts'
import type { FeatureServices } from '../../http/services.ts'
import { authorise } from '../../identity/authorise.ts'
import type { SignedServices } from '../links/index.ts'
import {
  type InviteOutcome,
  invitationChanges,
  inviteMembers,
  readActiveRoles,
} from '../workspaces/index.ts'
import {
  createProject,
  deleteProject,
  deleteProjectShort,
  getProject,
  getProjectShort,
  inviteToProject,
  inviteToProjectByName,
  listProjects,
  restoreProject,
  updateProject,
  updateProjectShort,
} from './contract.ts'
import { isRestorableHere, keepDeleted, restoreDeletedProject } from './deleted.ts'
import { environmentRoutes } from './environments.ts'
import {
  deleteGrants,
  deleteProjectAgents,
  deleteProjectRow,
  insertProject,
  type ProjectChanges,
  revokeEnvironmentTokens,
  selectProject,
  selectProjects,
  updateProjectRow,
} from './queries.ts'

export function projectRoutes(services: SignedServices): Route[] {
  return [...ownRoutes(services), ...inviteRoutes(services), ...environmentRoutes(services)]
}

function ownRoutes(services: FeatureServices): Route[] {
  const { db, config } = services
  return [
    listRoute(listProjects, async ({ caller, query, namedWorkspace }) => {
      const isOfAll = query.workspace_id === 'all'
      const active = { workspaceId: namedWorkspace }
      const grant = isOfAll ? null : await authorise(db, caller, 'project.read', active)
      return {
        name: `projects ${grant?.workspaceId ?? 'all'}`,
        read: (page) => selectProjects(db, caller, { workspaceId: grant?.workspaceId, ...page }),
        sortKey: ({ name, id }) => [name, id],
      }
    }),
    route(createProject, async ({ tx, grant, audit, body: { name, description = '' } }) => {
      await lockWorkspace(tx, grant)
      const project = { ...grant, projectId: Bun.randomUUIDv7(), projectName: name }
      audit.record(change('project.created', project))
      const [inserted] = await Promise.all([
        insertProject(tx, project, description),
        requireQuota(tx, config, 'projects', grant.workspaceId),
        countHourly(tx, services, 'created', grant.userId),
      ])
      if (!inserted) throw nameTaken()
      return inserted
    }),
    ...[getProject, getProjectShort].map((endpoint) =>
      route(endpoint, ({ tx, grant }) => show(tx, grant)),
    ),
    ...[updateProject, updateProjectShort].map((endpoint) =>
      route(endpoint, ({ body, ...changing }) => update(changing, body)),
    ),
    ...[deleteProject, deleteProjectShort].map((endpoint) => route(endpoint, remove)),
    route(restoreProject, (changing) => restore(changing, config)),
  ]
}

function inviteRoutes(services: SignedServices): Route[] {
  return [inviteToProject, inviteToProjectByName].map((endpoint) =>
    route(endpoint, ({ body, ...changing }) => invite(changing, services, body)),
  )
}

type Shown = ProjectGrant<'project.read' | 'project.write' | 'project.delete'>

async function show(tx: Reading, grant: Shown) {
  const project = await selectProject(tx, grant)
  if (!project) throw new Fault('not_found')
  return project
}

async function update(
  { tx, grant, audit }: Changing<ProjectGrant<'project.write'>>,
  changes: ProjectChanges,
) {
  if (Object.keys(changes).length === 0) {
    audit.unchanged()
    return show(tx, grant)
  }
  const project = { ...grant, projectName: changes.name ?? grant.projectName }
  audit.record(change('project.updated', project))
  try {
    const updated = await updateProjectRow(tx, grant, changes)
    if (!updated) throw new Fault('not_found')
    return updated
  } catch (error) {
    throw isUniqueViolation(error) ? nameTaken() : error
  }
}

/**
 * Deletes the project, its secrets and all that could still ask for them. The lock keeps a token from
 * being provisioned for it at the same moment. Project and secrets can be restored for a while.
 */
async function remove({
  tx,
  grant,
  audit,
}: Changing<ProjectGrant<'project.delete'>>): Promise<undefined> {
  await lockWorkspace(tx, grant)
  const [, revoked, deleted, , isDeleted] = await Promise.all([
    deleteGrants(tx, grant),
    revokeEnvironmentTokens(tx, grant),
    deleteProjectAgents(tx, grant),
    keepDeleted(tx, grant),
    deleteProjectRow(tx, grant),
  ])
  if (!isDeleted) throw new Fault('not_found')
  const { projectId } = grant
  audit.record(
    ...revoked.map(
      (token): Change => ({
        action: 'token.revoked',
        ...toTokenResource(token, token.agent),
        projectId,
      }),
    ),
    ...deleted.map(
      (agent): Change => ({
        action: 'agent.deleted',
        resource: { type: 'agent', ...agent },
        registrationId: agent.id,
        projectId,
      }),
    ),
    change('project.deleted', grant),
  )
}

/** Brings back project and secrets; its tokens stay revoked. */
async function restore(
  { tx, grant, audit }: Changing<ProjectGrant<'project.delete'>>,
  config: QuotaConfig,
) {
  const [, isKept] = await Promise.all([lockWorkspace(tx, grant), isRestorableHere(tx, grant)])
  if (!isKept) throw new Fault('not_found')
  audit.record(change('project.restored', grant))
  const [isRestored, project] = await Promise.all([
    restoreDeletedProject(tx, grant),
    selectProject(tx, grant),
    requireQuota(tx, config, 'projects', grant.workspaceId),
  ])
  if (!isRestored) throw nameTaken()
  if (!project) throw new Fault('not_found')
  return project
}

type InviteBody = { members: string[] } | Parameters<typeof inviteMembers>[2]

/** Access to a project follows the roles of its workspace, so inviting to it is inviting there. */
async function invite(
  { tx, grant, audit }: Changing<Grant<'member.manage'>>,
  services: SignedServices,
  body: InviteBody,
): Promise<RoleInProject[] | Reply<RoleInProject[]>> {
  if ('members' in body) {
    audit.unchanged()
    const acting = await readActiveRoles(tx, grant, body.members)
    return body.members.map((email) => {
      const role = acting.get(email) ?? null
      return { email, status: role === null ? 'not_a_member' : 'already_member', role }
    })
  }
  const outcomes = await inviteMembers({ tx, grant }, services, body)
  const changes = invitationChanges(outcomes)
  if (changes.length === 0) {
    audit.unchanged()
    return outcomes
  }
  audit.record(...changes)
  return replyCreated(outcomes)
}

type RoleInProject = Pick<InviteOutcome, 'email' | 'role'> & {
  status: InviteOutcome['status'] | 'not_a_member'
}

function change(action: Change['action'], { projectId, projectName }: ProjectGrant): Change {
  return { action, resource: { type: 'project', id: projectId, name: projectName }, projectId }
}

function nameTaken(): Fault {
  return new Fault('already_exists', {
    message: 'The workspace already has a project with this name.',
  })
}
