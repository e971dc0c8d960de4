/**
 * Deleted projects with their secrets, as rows of tables of their own: nothing else looks there. The blobs
 * stay bound to project, environment and name, so that they open again where they were.
 */
import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { Transaction } from '../../platform/db/open.ts'
import {
  deletedProjects,
  deletedSecrets,
  deletedSecretVersions,
  projects,
  secrets,
  secretVersions,
} from '../../platform/db/schema/index.ts'
import type { ProjectGrant } from '../../platform/grant.ts'

type Delete = ProjectGrant<'project.delete'>

const PROJECT = sql.raw('id, workspace_id, name, description, created_at, updated_at')
const SECRET = sql.raw(
  'id, workspace_id, project_id, environment, key, value, policy, version, created_at, updated_at',
)
const VERSION = sql.raw('secret_id, version, value, policy, created_by, created_at')

/** Copies the project and its secrets to where they can be restored from; the rows are deleted next. */
export async function keepDeleted(tx: Transaction, grant: Delete): Promise<void> {
  const { projectId, workspaceId } = grant
  await tx.execute(sql`
    insert into ${deletedProjects} (${PROJECT}) select ${PROJECT} from ${projects}
    where id = ${projectId} and workspace_id = ${workspaceId}`)
  await tx.execute(copyOf(sql`${secrets}`, sql`${deletedSecrets}`, grant))
  await tx.execute(
    copyVersions({
      from: [sql`${secretVersions}`, sql`${secrets}`],
      to: sql`${deletedSecretVersions}`,
      grant,
    }),
  )
}

/**
 * Puts them back, or does nothing when the project is gone for good or another has its name by now. The
 * workspace must be locked.
 */
export async function restoreDeleted(
  tx: Transaction,
  grant: Delete,
): Promise<'restored' | 'gone' | 'name taken'> {
  const { projectId, workspaceId } = grant
  const here = and(eq(deletedProjects.id, projectId), eq(deletedProjects.workspaceId, workspaceId))
  if ((await tx.$count(deletedProjects, here)) === 0) return 'gone'
  const restored = await tx.execute(sql`
    insert into ${projects} (${PROJECT}) select ${PROJECT} from ${deletedProjects}
    where id = ${projectId} and workspace_id = ${workspaceId} on conflict do nothing returning id`)
  if (restored.length === 0) return 'name taken'
  await tx.execute(copyOf(sql`${deletedSecrets}`, sql`${secrets}`, grant))
  await tx.execute(
    copyVersions({
      from: [sql`${deletedSecretVersions}`, sql`${deletedSecrets}`],
      to: sql`${secretVersions}`,
      grant,
    }),
  )
  await tx.delete(deletedProjects).where(here)
  return 'restored'
}

function copyOf(from: SQL, to: SQL, { projectId, workspaceId }: Delete): SQL {
  return sql`insert into ${to} (${SECRET}) select ${SECRET} from ${from}
    where project_id = ${projectId} and workspace_id = ${workspaceId}`
}

type Copy = { from: [versions: SQL, secrets: SQL]; to: SQL; grant: Delete }

function copyVersions({ from, to, grant: { projectId, workspaceId } }: Copy): SQL {
  const [versions, owners] = from
  return sql`insert into ${to} (${VERSION}) select ${VERSION} from ${versions} where secret_id in (
    select id from ${owners} where project_id = ${projectId} and workspace_id = ${workspaceId})`
}
