/** Removes ended requests: details and envelopes a day after the end, rows 30 days after it (protocol 14.2). */
import { Cron } from 'croner'
import { sql } from 'drizzle-orm'
import { describeError, type Log } from '../core/log.ts'
import type { Database } from '../database/open.ts'

/** When a row ended: it was used, denied, revoked, or expired. */
const ENDED = sql`case status when 'used' then used_at when 'denied' then decided_at
  when 'revoked' then decided_at else expires_at end`

/** Separate statements, so that no row is locked for long. */
export async function sweepApprovals(db: Database): Promise<void> {
  await db.execute(sql`update approvals set details = null, envelopes = null
    where (details is not null or envelopes is not null) and ${ENDED} < now() - interval '24 hours'`)
  await db.execute(sql`delete from approvals where ${ENDED} < now() - interval '30 days'`)
  await db.execute(
    sql`delete from proposals where coalesce(closed_at, expires_at) < now() - interval '30 days'`,
  )
}

export function scheduleApprovalUpkeep({ db, log }: { db: Database; log: Log }): Cron {
  return new Cron('*/10 * * * *', { protect: true, unref: true }, async () => {
    try {
      await sweepApprovals(db)
    } catch (error) {
      log.warning('ended approvals could not be removed', describeError(error))
    }
  })
}
