/**
 * The only place that decides permissions. It finds the tenant that a request names and the caller's role in it, and
 * mints the `Grant` without which no tenant query compiles. Other people's objects are `not_found`, exactly like
 * missing ones.
 */
import { and, asc, eq, type SQL, sql } from 'drizzle-orm'
import { buildFieldFault, Fault } from '../core/fault.ts'
import type { Permission } from '../core/grant.ts'
import {
  type Caller,
  type Grant,
  type ProjectGrant,
  type ResourceRef,
  RoleDenied,
} from '../core/grant.ts'
import { matrix, permits, roleRefusal, rolesThatWrite } from '../core/roles.ts'
import { isUuid } from '../core/validation/validate.ts'
import type { Reading } from '../database/open.ts'
import { prepareOnce } from '../database/prepared.ts'
import { isRestorable } from '../database/restorable.ts'
import { deletedProjects, memberships, projects, workspaces } from '../database/schema/index.ts'

/** @throws Fault `not_found`, `forbidden`, `validation_error` when no workspace is active */
export async function authorise<P extends Permission>(
  db: Reading,
  caller: Caller,
  permission: P,
  resource: ResourceRef,
): Promise<Grant<P>> {
  const grant = await findGrant(db, caller, resource)
  if (!grant) throw new Fault('not_found')
  if (!permits(grant.role, permission)) {
    throw new RoleDenied(grant, roleRefusal(matrix[permission], grant.role))
  }
  return grant as Grant<P>
}

/**
 * Checks writes, deletions and restores of secrets, by their old and new policies.
 *
 * @throws Fault `forbidden` that names the permitted roles
 */
export function requireMayWrite(
  { role }: Grant<'secret.write'>,
  secrets: Iterable<{ policy?: unknown }>,
): void {
  for (const { policy } of secrets) {
    const needed = rolesThatWrite(policy)
    if (!needed.includes(role)) throw roleRefusal(needed, role)
  }
}

async function findGrant(
  db: Reading,
  caller: Caller,
  resource: ResourceRef,
): Promise<Grant | null> {
  const { projectId, projectName, deletedProjectId } = resource
  if (deletedProjectId !== undefined) return findDeletedProjectGrant(db, caller, deletedProjectId)
  if (projectId !== undefined) return projectOf(db, caller, projectId, resource.workspaceId)
  const workspaceId = resource.workspaceId ?? (await findActiveWorkspace(db, caller))
  if (!isUuid(workspaceId)) return null
  if (projectName === undefined) return workspaceGrant(db, caller, workspaceId)
  return projectGrant(db, selectProjectByName, caller, { workspaceId, projectName })
}

/** Finds a project by its id. If the path also names a workspace, it must be the project's. */
async function projectOf(
  db: Reading,
  caller: Caller,
  projectId: string,
  workspaceId: string | undefined,
): Promise<ProjectGrant | null> {
  if (![projectId, workspaceId ?? projectId].every(isUuid)) return null
  return workspaceId === undefined
    ? projectGrant(db, selectProject, caller, { projectId })
    : projectGrant(db, selectProjectInside, caller, { projectId, workspaceId })
}

/** Returns the caller's personal workspace, or else the only one. With none or several, the request must name it. */
async function findActiveWorkspace(db: Reading, caller: Caller): Promise<string> {
  const own = await db
    .select({ id: workspaces.id, type: workspaces.type, role: memberships.role })
    .from(memberships)
    .innerJoin(workspaces, eq(workspaces.id, memberships.workspaceId))
    .where(and(eq(memberships.userId, caller.userId), eq(memberships.status, 'active')))
    .orderBy(asc(memberships.id))
  // This list can contain another person's personal workspace, in which the caller is a guest.
  const personal = own.find(({ type, role }) => type === 'personal' && role === 'owner')
  const active = personal ?? (own.length === 1 ? own[0] : undefined)
  if (!active)
    throw buildFieldFault('X-Workspace-Id', 'is required: name the workspace in this header')
  return active.id
}

const isActiveMember = and(
  eq(memberships.userId, sql.placeholder('userId')),
  eq(memberships.status, 'active'),
)

const selectMembership = prepareOnce((db) =>
  db
    .select({ role: memberships.role })
    .from(memberships)
    .where(and(eq(memberships.workspaceId, sql.placeholder('workspaceId')), isActiveMember))
    .prepare('membership'),
)

async function workspaceGrant(
  db: Reading,
  caller: Caller,
  workspaceId: string,
): Promise<Grant | null> {
  const { userId } = caller
  const [membership] = await selectMembership(db).execute({ userId, workspaceId })
  return membership ? mint(caller, { workspaceId, role: membership.role }) : null
}

function selectProjectWhere(...which: readonly SQL[]) {
  return prepareOnce((db) =>
    db
      .select({
        workspaceId: projects.workspaceId,
        projectId: projects.id,
        projectName: projects.name,
        role: memberships.role,
      })
      .from(projects)
      .innerJoin(memberships, eq(memberships.workspaceId, projects.workspaceId))
      .where(and(...which, isActiveMember))
      .prepare('project'),
  )
}

const isProject = eq(projects.id, sql.placeholder('projectId'))
const isInside = eq(projects.workspaceId, sql.placeholder('workspaceId'))
const selectProject = selectProjectWhere(isProject)
const selectProjectInside = selectProjectWhere(isProject, isInside)
const selectProjectByName = selectProjectWhere(
  isInside,
  eq(projects.name, sql.placeholder('projectName')),
)

async function projectGrant(
  db: Reading,
  select: typeof selectProject,
  caller: Caller,
  named: Record<string, string>,
): Promise<ProjectGrant | null> {
  const [found] = await select(db).execute({ ...named, userId: caller.userId })
  return found ? mint(caller, found) : null
}

/** Deleted projects exist only for members who may restore them, and only as long as that is possible. */
async function findDeletedProjectGrant(
  db: Reading,
  caller: Caller,
  projectId: string,
): Promise<ProjectGrant | null> {
  if (!isUuid(projectId)) return null
  const { id, name, workspaceId } = deletedProjects
  const [found] = await db
    .select({ workspaceId, projectId: id, projectName: name, role: memberships.role })
    .from(deletedProjects)
    .innerJoin(memberships, eq(memberships.workspaceId, workspaceId))
    .where(and(eq(id, projectId), isRestorable(deletedProjects.deletedAt), isActiveMember))
    .prepare('deleted_project')
    .execute({ userId: caller.userId })
  return found ? mint(caller, found) : null
}

function mint<T extends { workspaceId: string; role: Grant['role'] }>(
  caller: Caller,
  found: T,
): Grant & T {
  return { ...found, userId: caller.userId, email: caller.email } as Grant & T
}
