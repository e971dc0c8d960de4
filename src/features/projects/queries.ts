/** The projects' rows. Writers need a write grant; the list over all workspaces takes the caller. */
import { and, asc, eq, isNull, type SQL, sql } from 'drizzle-orm'
import { Fault } from '../../core/fault.ts'
import type { Caller, ProjectGrant } from '../../core/grant.ts'
import type { Database, Reading, Transaction } from '../../database/open.ts'
import {
  agents,
  memberships,
  projects,
  tokenEnvelopes,
  tokens,
  workspaces,
} from '../../database/schema/index.ts'
import type { Page } from '../../http/page.ts'

type Read = ProjectGrant<'project.read' | 'project.write' | 'project.delete'>
type Write = ProjectGrant<'project.write'>

/** One row more than the page holds, by name. */
export function selectProjects(
  db: Database,
  { userId }: Caller,
  { workspaceId, after, limit }: Page & { workspaceId: string | undefined },
) {
  return selectShownProjects(
    db,
    userId,
    and(
      workspaceId === undefined ? undefined : eq(projects.workspaceId, workspaceId),
      after.length === 0
        ? undefined
        : sql`(${projects.name}, ${projects.id}) > (${after[0]}, ${after[1]}::uuid)`,
    ),
  ).limit(limit + 1)
}

export async function selectProject(tx: Reading, grant: Read) {
  const [project] = await selectShownProjects(
    tx,
    grant.userId,
    and(eq(projects.workspaceId, grant.workspaceId), eq(projects.id, grant.projectId)),
  )
  return project ?? null
}

function selectShownProjects(db: Reading, userId: string, which: SQL | undefined) {
  return db
    .select({
      id: projects.id,
      name: projects.name,
      description: projects.description,
      workspace_id: projects.workspaceId,
      workspace_name: workspaces.name,
      role: memberships.role,
      created_at: projects.createdAt,
      updated_at: projects.updatedAt,
    })
    .from(projects)
    .innerJoin(workspaces, eq(workspaces.id, projects.workspaceId))
    .innerJoin(memberships, eq(memberships.workspaceId, projects.workspaceId))
    .where(and(eq(memberships.userId, userId), eq(memberships.status, 'active'), which))
    .orderBy(asc(projects.name), asc(projects.id))
}

/** The returned columns of the row itself, so that a write needs no read after it. */
const written = {
  id: projects.id,
  name: projects.name,
  description: projects.description,
  workspace_id: projects.workspaceId,
  workspace_name: sql<string>`(
    select w.name from ${workspaces} w where w.id = ${projects.workspaceId})`,
  created_at: projects.createdAt,
  updated_at: projects.updatedAt,
}

/** The new project as it is shown, or `null` when the workspace has one of that name. */
export async function insertProject(tx: Transaction, grant: Write, description: string) {
  const { projectId: id, projectName: name, workspaceId, role } = grant
  const [project] = await tx
    .insert(projects)
    .values({ id, workspaceId, name, description })
    .onConflictDoNothing()
    .returning(written)
  return project ? { ...project, role } : null
}

export type ProjectChanges = { name?: string | undefined; description?: string | undefined }

/** The project as it is shown, or `null` when it is gone. Throws the database's unique violation when the name is taken. */
export async function updateProjectRow(tx: Transaction, grant: Write, changes: ProjectChanges) {
  const [project] = await tx
    .update(projects)
    .set({ ...changes, updatedAt: sql`now()` })
    .where(and(eq(projects.workspaceId, grant.workspaceId), eq(projects.id, grant.projectId)))
    .returning(written)
  return project ? { ...project, role: grant.role } : null
}

type Delete = ProjectGrant<'project.delete'>

/** Deletes the project with all that hangs on it; false when it is gone already. */
export async function deleteProjectRow(tx: Transaction, grant: Delete): Promise<boolean> {
  const deleted = await tx
    .delete(projects)
    .where(and(eq(projects.workspaceId, grant.workspaceId), eq(projects.id, grant.projectId)))
    .returning({ id: projects.id })
  return deleted.length > 0
}

/**
 * Removes the grants of the project, or of one environment, also from tokens of the whole workspace.
 * Returns how many there were.
 */
export async function deleteGrants(
  tx: Transaction,
  grant: Delete,
  environment?: string,
): Promise<number> {
  const deleted = await tx
    .delete(tokenEnvelopes)
    .where(
      and(
        eq(tokenEnvelopes.workspaceId, grant.workspaceId),
        eq(tokenEnvelopes.projectId, grant.projectId),
        environment === undefined ? undefined : eq(tokenEnvelopes.environment, environment),
      ),
    )
    .returning({ id: tokenEnvelopes.tokenId })
  return deleted.length
}

/** Revokes the live tokens that were scoped to the project, or to one environment of it. */
export async function revokeEnvironmentTokens(
  tx: Transaction,
  grant: Delete,
  environment?: string,
) {
  return tx
    .update(tokens)
    .set({ revokedAt: sql`now()` })
    .where(
      and(
        eq(tokens.workspaceId, grant.workspaceId),
        eq(tokens.projectId, grant.projectId),
        environment === undefined ? undefined : eq(tokens.environment, environment),
        isNull(tokens.revokedAt),
      ),
    )
    .returning({
      id: tokens.id,
      label: tokens.label,
      agent: sql<{ id: string; name: string } | null>`(
        select json_build_object('id', a.id, 'name', a.name) from ${agents} a
        where a.id = ${tokens.agentId})`,
    })
}

/** Deletes the agents that were scoped to the project; their rows stay for the audit. */
export async function deleteProjectAgents(tx: Transaction, grant: Delete) {
  return tx
    .update(agents)
    .set({ deletedAt: sql`now()` })
    .where(
      and(
        eq(agents.workspaceId, grant.workspaceId),
        eq(agents.projectId, grant.projectId),
        isNull(agents.deletedAt),
      ),
    )
    .returning({ id: agents.id, name: agents.name })
}

/** Environments that were made without a secret. */
export async function selectEnvironments(
  tx: Reading,
  grant: ProjectGrant<'project.read' | 'project.write' | 'project.delete' | 'secret.read'>,
): Promise<readonly string[]> {
  const [project] = await tx
    .select({ environments: projects.environments })
    .from(projects)
    .where(and(eq(projects.workspaceId, grant.workspaceId), eq(projects.id, grant.projectId)))
  if (!project) throw new Fault('not_found')
  return project.environments
}

export async function updateEnvironments(
  tx: Transaction,
  grant: Write | Delete,
  environments: string[],
): Promise<void> {
  await tx
    .update(projects)
    .set({ environments })
    .where(and(eq(projects.workspaceId, grant.workspaceId), eq(projects.id, grant.projectId)))
}
