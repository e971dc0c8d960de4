/** Housekeeping of deleted projects: what can no longer be restored goes for good. */
import { Cron } from 'croner'
import type { Database } from '../../platform/db/open.ts'
import { isOverdue } from '../../platform/db/restorable.ts'
import { deletedProjects } from '../../platform/db/schema/index.ts'
import { describeError, type Log } from '../../platform/log.ts'

export function scheduleProjectUpkeep({ db, log }: { db: Database; log: Log }): { stop(): void } {
  return new Cron('41 23 * * * *', { protect: true, unref: true }, async () => {
    try {
      await dropOverdue(db)
    } catch (error) {
      log.warning('upkeep of deleted projects failed', describeError(error))
    }
  })
}

/** Secrets and versions go with their project. Returns how many projects went. */
export async function dropOverdue(db: Database): Promise<number> {
  const dropped = await db
    .delete(deletedProjects)
    .where(isOverdue)
    .returning({ id: deletedProjects.id })
  return dropped.length
}
