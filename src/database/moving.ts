/**
 * Keeps servers from using a PostgreSQL while its rows are moved or restored: their writes would be lost, or be in the
 * way. The moving transaction holds a lock, which servers take for a moment when they start.
 */
import type { Sql, TransactionSql } from 'postgres'
import { lockHolder } from './lock_holder.ts'
import { ServerUnreachable } from './reach.ts'

const ADVISORY_LOCK = 6_021_023_022

/** Holds the lock until the end of the transaction. Returns false if another session has it. */
export async function blockStartups(tx: TransactionSql): Promise<boolean> {
  const [row] = await tx<{ mine: boolean }[]>`
    select pg_try_advisory_xact_lock(${ADVISORY_LOCK}) as mine`
  return row?.mine === true
}

/** @throws ServerUnreachable, which names the lock's owner: any database user can take the lock */
export async function demandNotMoving(sql: Sql): Promise<void> {
  const [row] = await sql<{ free: boolean }[]>`
    select pg_try_advisory_xact_lock_shared(${ADVISORY_LOCK}) as free`
  if (row?.free === true) return
  const holder = await lockHolder(sql, ADVISORY_LOCK)
  const whose = holder ? ` (backend ${holder.pid} of ${holder.user})` : ''
  throw new ServerUnreachable(
    `this database is being moved or restored${whose}: start the server afterwards`,
  )
}
