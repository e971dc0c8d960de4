/**
 * Enforces quotas (quotas.ts). The check runs after the rows were written, in their transaction, so that it counts all
 * rows to be stored; it reads at most one row more than the quota.
 */
import { type SQL, sql } from 'drizzle-orm'
import {
  describeOverQuota,
  type QuotaConfig,
  type QuotaName,
  quotas,
} from '../../core/config/quotas.ts'
import { Fault } from '../../core/fault.ts'
import type { Transaction } from '../open.ts'
import { demandBeforeCommit } from '../signed_notes.ts'

/** First half of the key of the advisory lock; the second is a hash of the person. */
const PEOPLE = 6_021_024

/**
 * Refuses the transaction before it commits. Call it only if rows were added: a server whose quota was lowered stays usable. Writers of one place must wait for each
 * other, as they do for a workspace's or a person's lock.
 *
 * @param ids of the place, in the order of the quota's columns
 * @throws Fault `quota_exceeded`
 */
export function requireQuota(
  tx: Transaction,
  config: QuotaConfig,
  name: QuotaName,
  ...ids: readonly string[]
): Promise<void> {
  return demandBeforeCommit(tx, checkQuota(tx, config, name, ids))
}

async function checkQuota(
  tx: Transaction,
  config: QuotaConfig,
  name: QuotaName,
  ids: readonly string[],
): Promise<void> {
  const quota = quotas[name]
  const most = config[quota.setting]
  const which = 'which' in quota ? [sql.raw(quota.which)] : []
  const conditions: SQL[] = [
    ...quota.by.map((column, index) => sql`${sql.identifier(column)} = ${ids[index]}`),
    ...which,
  ]
  // The lock of a workspace does not cover a person's rows in others. This lock does: requests count one after another,
  // and each sees the rows that earlier requests committed.
  const isOfPerson = quota.by.some((column) => column === 'user_id')
  const locking =
    isOfPerson && tx.execute(sql`select pg_advisory_xact_lock(${PEOPLE}::int, hashtext(${ids[0]}))`)
  const counting = tx.execute<{ rows: number }>(sql`
    select count(*)::int as rows from (select 1 from ${sql.raw(quota.rows)} as counted
      where ${sql.join(conditions, sql` and `)} limit ${most + 1}) as found`)
  // Keep this order: a count after the lock sees all rows committed by then.
  const [, [row]] = await Promise.all([locking, counting])
  if ((row?.rows ?? 0) > most) throw quotaFault(quota, most)
}

/** Returns a fault with a `fix` that names the setting which an operator can raise. */
export function quotaFault(quota: Parameters<typeof describeOverQuota>[0], most: number): Fault {
  return new Fault('quota_exceeded', {
    message: describeOverQuota(quota, most),
    fix: { setting: quota.setting },
  })
}
