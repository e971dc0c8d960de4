/** Puts rows into an empty database: all of them, proven by their sums, or none. */
import type { TransactionSql } from 'postgres'
import type { Config } from '../../core/config/config.ts'
import { openLog } from '../../core/log.ts'
import { migrateIn, migrations } from '../../database/migrations/migrate.ts'
import { type Connection, databaseIn } from '../../database/open.ts'
import { checkKeys } from '../../database/prepare.ts'
import type { Dumped } from './dump.ts'
import { demandNoRules } from './expected.ts'
import type { Header } from './format.ts'
import { BackupProblem } from './problem.ts'
import type { TakeRows } from './read.ts'
import { demandRest, takeAlone } from './rest.ts'
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

/**
 * @param supply hands over all rows, and returns what they were
 * @throws ConfigError when the keys are not those of the rows; then nothing is changed
 */
export async function load(
  { sql, kind }: Connection,
  { config, contents }: { config: Config; contents: Contents },
  supply: (take: TakeRows) => Promise<Pick<Dumped, 'sums'>>,
): Promise<void> {
  await sql.begin(async (tx) => {
    await makeTextsExact(tx)
    if (kind === 'postgresql') await takeAlone(tx)
    await migrateIn(tx, migrations.slice(0, contents.migrations.length))
    const tables = await emptyTables(tx)
    if (!areSame(tables, contents.tables))
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
    await migrateIn(tx)
    await checkKeys(databaseIn(tx, sql), config, openLog(config.LOG_LEVEL))
    if (kind === 'postgresql') await demandRest(tx)
  })
}

/** @throws BackupProblem for a database that is somebody's */
export async function emptyTables(tx: TransactionSql) {
  const tables = await tablesOf(tx)
  await demandNoRules(tx, tables)
  const used = await findRows(
    tx,
    tables.filter(({ name }) => name !== OWN),
  )
  if (used !== null)
    throw new BackupProblem('failed', `the database is not empty: there are rows in ${used}`)
  return tables
}
