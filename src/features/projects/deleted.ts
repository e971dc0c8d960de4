/**
 * Deleted projects, as rows of a table of their own: nothing else looks there. Their secrets are kept with
 * them (`secrets/deleted.ts`).
 */
import { Cron } from 'croner'
import { and, eq, sql } from 'drizzle-orm'
import type { ProjectGrant } from '../../core/grant.ts'
import { describeError, type Log } from '../../core/log.ts'
import type { Database, Transaction } from '../../database/open.ts'
import { isOverdue } from '../../database/restorable.ts'
import { deletedProjects, deletedSecrets, projects } from '../../database/schema/index.ts'
import { keepDeletedSecrets, restoreDeletedWith } from '../secrets/index.ts'

type Delete = ProjectGrant<'project.delete'>

const PROJECT = sql.raw('id, workspace_id, name, description, environments, created_at, updated_at')

/** Copies the project and its secrets to where they can be restored from; the rows are deleted next. */
export async function keepDeleted(tx: Transaction, grant: Delete): Promise<void> {
  const { projectId, workspaceId } = grant
  await tx.execute(sql`
    insert into ${deletedProjects} (${PROJECT}) select ${PROJECT} from ${projects}
    where id = ${projectId} and workspace_id = ${workspaceId}`)
  await keepDeletedSecrets(tx, grant, { deletedWith: projectId })
}

/**
 * Puts them back, or does nothing when the project is gone for good or another has its name by now. The
 * workspace must be locked.
 */
export async function restoreDeletedProject(
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
  await restoreDeletedWith(tx, grant)
  await tx.delete(deletedProjects).where(here)
  return 'restored'
}

/** Housekeeping of deleted projects and secrets: what can no longer be restored is deleted permanently. */
export function scheduleProjectUpkeep({ db, log }: { db: Database; log: Log }): { stop(): void } {
  return new Cron('41 23 * * * *', { protect: true, unref: true }, async () => {
    try {
      await dropOverdue(db)
    } catch (error) {
      log.warning('upkeep of deleted projects failed', describeError(error))
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
