/**
 * Audit maintenance: folds the triggers' deltas into the rollups, and deletes records older than the retention. One
 * process per database does it at a time.
 */
import { Cron } from 'croner'
import { sql } from 'drizzle-orm'
import { sweepUses } from '../../audit/last_use.ts'
import { describeError, type Log } from '../../core/log.ts'
import type { Database, Transaction } from '../../database/open.ts'
import { splitByDimension } from './summary.ts'

export type Upkeep = { stop(): void }

/** Keys of the advisory locks of the two tasks. */
const FOLDING = 6_021_023_005
const EXPIRING = 6_021_023_006

/** Folded differences, which the next summary reads around until they are vacuumed. */
const VACUUM_AFTER_ROWS = 5000

/** Names, and differences, that one transaction folds: statements of others wait for it in an embedded database. */
const FOLDED = 1000

/** Records that one transaction deletes: it holds up the writers of an embedded database. */
const BATCH = 2000
/** Milliseconds between two batches, for other work. */
const PAUSE_MS = 20

/** `retentionDays` is undefined where records are kept for ever. */
export function scheduleUpkeep(
  { db, log }: { db: Database; log: Log },
  retentionDays: number | undefined,
): Upkeep {
  const jobs = [
    schedule('*/5 * * * * *', log, foldOften(db)),
    schedule('53 11 * * * *', log, () => sweepUses(db)),
    ...(retentionDays === undefined
      ? []
      : [schedule('23 7 * * * *', log, () => expireLogs(db, retentionDays))]),
  ]
  return { stop: () => jobs.forEach((job) => void job.stop()) }
}

function schedule(pattern: string, log: Log, task: () => Promise<unknown>): Cron {
  return new Cron(pattern, { protect: true, unref: true }, async () => {
    try {
      await task()
    } catch (error) {
      log.warning('audit maintenance failed', describeError(error))
    }
  })
}

/** Folds, and vacuums after many folded rows. */
function foldOften(db: Database): () => Promise<void> {
  let folded = 0
  return async () => {
    folded += await foldDeltas(db)
    if (folded < VACUUM_AFTER_ROWS) return
    await db.execute(sql`vacuum audit_deltas`)
    folded = 0
  }
}

/** Adds the differences so far to the rollups of their hours and days. Returns how many there were. */
export async function foldDeltas(db: Database): Promise<number> {
  let folded = 0
  for (;;) {
    const taken = (await runIfUnlocked(db, FOLDING, foldBatch)) ?? 0
    folded += taken
    if (taken === 0) return folded
    await Bun.sleep(0)
  }
}

/** Differences are never changed, and deleted here alone, so that their place is theirs. */
async function foldBatch(tx: Transaction): Promise<number> {
  const [row] = await tx.execute<{ taken: number }>(sql`
      with batch as (select ctid, coalesce(sum(1 + length(credential_ref) - length(replace(credential_ref, ',', '')))
          over (rows between unbounded preceding and 1 preceding), 0) as names_before
        from (select ctid, coalesce(credential_ref, '') as credential_ref from audit_deltas limit ${FOLDED}) as first),
      taken as (delete from audit_deltas
        where ctid = any (array(select ctid from batch where names_before < ${FOLDED})) returning *),
      parts as (${splitByDimension(sql`taken`)}),
      folded as (insert into audit_rollups as r (workspace_id, grain, bucket, dimension, value,
        requests, allowed, blocked, errors, redacted)
      select workspace_id, grain, date_trunc(grain, bucket, 'UTC'), dimension, value,
        sum(requests), sum(allowed), sum(blocked), sum(errors), sum(redacted)
      from parts cross join (values ('hour'), ('day')) as grains(grain)
      group by 1, 2, 3, 4, 5
      on conflict (workspace_id, grain, bucket, dimension, value) do update set
        requests = r.requests + excluded.requests, allowed = r.allowed + excluded.allowed,
        blocked = r.blocked + excluded.blocked, errors = r.errors + excluded.errors,
        redacted = r.redacted + excluded.redacted)
      select count(*)::int as taken from taken`)
  return row?.taken ?? 0
}

/**
 * Deletes what was recorded more than `days` days ago, by the database's clock and by the moment of
 * recording, which no client can choose. Returns how many records went.
 */
export async function expireLogs(db: Database, days: number): Promise<number> {
  let expired = 0
  for (;;) {
    const deleted = (await runIfUnlocked(db, EXPIRING, (tx) => deleteBatch(tx, days))) ?? 0
    expired += deleted
    if (deleted < BATCH) break
    await Bun.sleep(PAUSE_MS)
  }
  await db.execute(
    sql`delete from audit_refused where recorded_at < now() - make_interval(days => ${days}::int)`,
  )
  if (expired > 0)
    await runIfUnlocked(db, FOLDING, (tx) =>
      tx.execute(sql`delete from audit_rollups where requests = 0`),
    )
  return expired
}

async function deleteBatch(tx: Transaction, days: number): Promise<number> {
  const deleted = await tx.execute(sql`
    delete from audit_logs where id = any (array(
      select id from audit_logs where recorded_at < now() - make_interval(days => ${days}::int)
      limit ${BATCH}))
    returning 1`)
  return deleted.length
}

/** Runs a task in a transaction unless another process runs it: then `null`. */
async function runIfUnlocked<T>(
  db: Database,
  lock: number,
  task: (tx: Transaction) => Promise<T>,
): Promise<T | null> {
  return db.transaction(async (tx) => {
    const [row] = await tx.execute(sql`select pg_try_advisory_xact_lock(${lock}::bigint) as free`)
    return row?.free === true ? await task(tx) : null
  })
}
