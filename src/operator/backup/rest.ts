/** Requires that no server uses the database or starts on it while rows are moved. */
import type { TransactionSql } from 'postgres'
import { blockStartups } from '../../database/moving.ts'
import { BackupProblem } from './problem.ts'

export const NOT_RUNNING = 'Stop the server first. Its writes during the restore would be lost.'

/** Milliseconds for which an ended connection, such as this process's, may still be listed. */
const ENDING_MS = 2_000
const PAUSE_MS = 50

/** Locks PostgreSQL until the end of the transaction. `demandRest` checks again before that. @throws BackupProblem */
export async function takeAlone(tx: TransactionSql): Promise<void> {
  if (!(await blockStartups(tx)))
    throw new BackupProblem(
      'failed',
      'A server is starting on this database, or another move or restore is running. Retry.',
    )
  await demandRest(tx)
}

/** Detects servers of versions without the lock by their connections. @throws BackupProblem */
export async function demandRest(tx: TransactionSql): Promise<void> {
  const giveUpAt = performance.now() + ENDING_MS
  while (await isUsed(tx)) {
    if (performance.now() > giveUpAt)
      throw new BackupProblem('failed', `A server uses the database. ${NOT_RUNNING}`)
    await Bun.sleep(PAUSE_MS)
  }
}

async function isUsed(tx: TransactionSql): Promise<boolean> {
  // A transaction keeps its first snapshot of the statistics until it discards it.
  await tx`select pg_stat_clear_snapshot()`
  const others = await tx`
    select 1 from pg_stat_activity
    where datname = current_database() and application_name like 'cloakroom%' and pid <> pg_backend_pid() limit 1`
  return others.length > 0
}
