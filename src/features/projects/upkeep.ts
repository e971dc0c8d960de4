/** Housekeeping of deleted projects and secrets: what can no longer be restored goes for good. */
import { Cron } from 'croner'
import { describeError, type Log } from '../../core/log.ts'
import type { Database } from '../../database/open.ts'
import { isOverdue } from '../../database/restorable.ts'
import { deletedProjects, deletedSecrets } from '../../database/schema/index.ts'

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
