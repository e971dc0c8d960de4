/**
 * Deleted projects, as rows of a separate table: nothing else looks there. Their secrets are kept with
 * them (`secrets/deleted.ts`).
 */
import { Cron } from 'croner'
import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { ProjectGrant } from '../../core/grant.ts'
import { describeError, type Log } from '../../core/log.ts'
import type { Database, Transaction } from '../../database/open.ts'
import { isOverdue } from '../../database/restorable.ts'
import { deletedProjects, deletedSecrets, projects } from '../../database/schema/index.ts'
import { keepDeletedSecrets, restoreDeletedWith } from '../secrets/index.ts'

type Delete = ProjectGrant<'project.delete'>

const PROJECT = sql.raw('id, workspace_id, name, description, environments, created_at, updated_at')

/** Copies the project and its secrets to the tables for restores. The rows are deleted next. */
export async function keepDeleted(tx: Transaction, grant: Delete): Promise<void> {
  const { projectId } = grant
  await Promise.all([
    keepProject(tx, grant),
    keepDeletedSecrets(tx, grant, { deletedWith: projectId }),
  ])
}

async function keepProject(tx: Transaction, { projectId, workspaceId }: Delete): Promise<void> {
  await tx.execute(sql`
    insert into ${deletedProjects} (${PROJECT}) select ${PROJECT} from ${projects}
    where id = ${projectId} and workspace_id = ${workspaceId}`)
}

/** Whether the project can be restored. The workspace must be locked. */
export async function isRestorableHere(tx: Transaction, grant: Delete): Promise<boolean> {
  return (await tx.$count(deletedProjects, isKept(grant))) > 0
}

function isKept({ projectId, workspaceId }: Delete): SQL | undefined {
  return and(eq(deletedProjects.id, projectId), eq(deletedProjects.workspaceId, workspaceId))
}

/** Puts project and secrets back. False when another has its name by now: then the transaction must not be committed. */
export async function restoreDeletedProject(tx: Transaction, grant: Delete): Promise<boolean> {
  const [isRestored] = await Promise.all([
    restoreProjectRow(tx, grant),
    restoreDeletedWith(tx, grant),
    dropKept(tx, grant),
  ])
  return isRestored
}

async function restoreProjectRow(
  tx: Transaction,
  { projectId, workspaceId }: Delete,
): Promise<boolean> {
  const restored = await tx.execute(sql`
    insert into ${projects} (${PROJECT}) select ${PROJECT} from ${deletedProjects}
    where id = ${projectId} and workspace_id = ${workspaceId} on conflict do nothing returning id`)
  return restored.length > 0
}

async function dropKept(tx: Transaction, grant: Delete): Promise<void> {
  await tx.delete(deletedProjects).where(isKept(grant))
}

/** Permanently deletes projects and secrets that can no longer be restored. */
export function scheduleProjectUpkeep({ db, log }: { db: Database; log: Log }): { stop(): void } {
  return new Cron('41 23 * * * *', { protect: true, unref: true }, async () => {
    try {
      await dropOverdue(db)
    } catch (error) {
      log.warning('maintenance of deleted projects failed', describeError(error))
    }
  })
}

/** Secrets go with their project, versions with their secret. Returns how many of both went by themselves. */
export async function dropOverdue(db: Database): Promise<number> {
  let dropped = 0
  for (const { table, id, deletedAt } of [
    { table: deletedProjects, ...deletedProjects },
    { table: deletedSecrets, ...deletedSecrets },
  ])
    dropped += (await db.delete(table).where(isOverdue(deletedAt)).returning({ id })).length
  return dropped
}
