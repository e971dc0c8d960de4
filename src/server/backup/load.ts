/** Puts rows into an empty database: all of them, proven by their sums, or none. */
import type { Sql, TransactionSql } from 'postgres'
import { migrate, migrations } from '../../platform/db/migrate.ts'
import type { Dumped } from './dump.ts'
import type { Header } from './format.ts'
import { BackupProblem } from './problem.ts'
import type { TakeRows } from './read.ts'
import {
  areSame,
  findRows,
  insertRows,
  makeTextsExact,
  sumOf,
  tablesOf,
  withoutTriggers,
} from './rows.ts'

/** What a server makes of itself at its first start: of nobody, so that something else may take its place. */
const OWN = 'instance'

type Contents = Pick<Header, 'tables' | 'migrations'>

/** @param supply hands over all rows, and returns what they were */
export async function load(
  sql: Sql,
  { tables: expected, migrations: applied }: Contents,
  supply: (take: TakeRows) => Promise<Pick<Dumped, 'sums'>>,
): Promise<void> {
  await migrate(sql, migrations.slice(0, applied.length))
  await sql.begin(async (tx) => {
    await makeTextsExact(tx)
    const tables = await emptyTables(tx)
    if (!areSame(tables, expected))
      throw new BackupProblem('failed', 'the tables of the database are not those of this schema')
    await tx.unsafe(`delete from ${OWN}`)
    await withoutTriggers(tx, tables, async () => {
      const byName = new Map(tables.map((table) => [table.name, table]))
      const { sums } = await supply(async (name, rows) => {
        const table = byName.get(name)
        if (table) await insertRows(tx, table, rows)
      })
      for (const table of tables) {
        const { rows, sha256 } = await sumOf(tx, table)
        const meant = sums[table.name]
        if (rows !== meant?.rows || sha256 !== meant.sha256)
          throw new BackupProblem('failed', `${table.name} did not arrive as it was sent`)
      }
    })
  })
  await migrate(sql)
}

/** @throws BackupProblem for a database that is somebody's */
export async function emptyTables(tx: TransactionSql) {
  const tables = await tablesOf(tx)
  const used = await findRows(
    tx,
    tables.filter(({ name }) => name !== OWN),
  )
  if (used !== null)
    throw new BackupProblem('failed', `the database is not empty: there are rows in ${used}`)
  return tables
}
