/**
 * Counts the rows and index entries that requests take from PostgreSQL: a number that no busy machine changes. Background
 * work of the application adds to it, so take the lower of two counts.
 */
import type { Sql, TransactionSql } from 'postgres'
import { POOL_SIZE } from '../../src/database/open.ts'

export async function countRowsRead(sql: Sql, act: () => Promise<unknown>): Promise<number> {
  const before = await readCounter(sql)
  await act()
  return (await readCounter(sql)) - before
}

/** Index entries are counted by their indexes: those without a row, as in index-only scans, are in no table's counter. */
async function readCounter(sql: Sql): Promise<number> {
  await flushCounters(sql)
  const [row] = await sql<{ rows: string }[]>`
    select (select sum(seq_tup_read) from pg_stat_user_tables)
      + (select sum(idx_tup_read) from pg_stat_user_indexes) as rows`
  return Number(row?.rows)
}

/** Each connection holds its counters back for a second. Transactions that wait for one another take all of them. */
async function flushCounters(sql: Sql): Promise<void> {
  const { promise: allBegun, resolve } = Promise.withResolvers<void>()
  let begun = 0
  const flush = (tx: TransactionSql) =>
    tx`select pg_stat_force_next_flush()`.then(() => {
      begun += 1
      if (begun === POOL_SIZE) resolve()
      return allBegun
    })
  await Promise.all(Array.from({ length: POOL_SIZE }, () => sql.begin(flush)))
}
