/** Loads an archive into an empty database: all of its rows, verified by checksums, or none. */
import type { TransactionSql } from 'postgres'
import type { Config } from '../../core/config/config.ts'
import { openLog } from '../../core/log.ts'
import { migrateIn, migrations } from '../../database/migrations/migrate.ts'
import { type Connection, databaseIn } from '../../database/open.ts'
import { checkKeys } from '../../database/prepare.ts'
import type { Contents, Dumped } from './dump.ts'
import { type BackupTable, demandNoRules } from './expected.ts'
import { BackupProblem } from './problem.ts'
import type { TakeRows } from './read.ts'
import { demandRest, takeAlone } from './rest.ts'
import {
  areSame,
  findRows,
  insertRows,
  makeTextsExact,
  readTable,
  tablesOf,
  withoutTriggers,
} from './rows.ts'

/** The row that a server creates at its first start. It belongs to no person, so a load may replace it. */
const OWN = 'instance'

/** A verified backup, or the rows of another database as they are read. */
export type Archive = Pick<Contents, 'migrations'> & {
  tables: readonly Pick<BackupTable, 'name' | 'columns'>[]
  /** Passes all rows to `take`, and returns their sums. */
  supply(take: TakeRows): Promise<Pick<Dumped, 'sums'>>
}

/** @throws ConfigError when the keys are not those of the rows; then nothing is changed */
export async function load(
  { sql, kind }: Connection,
  config: Config,
  archive: Archive,
): Promise<void> {
  await sql.begin(async (tx) => {
    await makeTextsExact(tx)
    if (kind === 'postgresql') await takeAlone(tx)
    await migrateIn(tx, migrations.slice(0, archive.migrations.length))
    const tables = await emptyTables(tx)
    if (!areSame(tables, archive.tables))
      throw new BackupProblem('failed', 'the tables of the database do not match this schema')
    await tx.unsafe(`delete from ${OWN}`)
    await withoutTriggers(tx, tables, async () => {
      const byName = new Map(tables.map((table) => [table.name, table]))
      const { sums } = await archive.supply(async (name, rows) => {
        const table = byName.get(name)
        if (table) await insertRows(tx, table, rows)
      })
      for (const table of tables) {
        const { rows, sha256 } = await readTable(tx, table)
        const meant = sums[table.name]
        if (rows !== meant?.rows || sha256 !== meant.sha256)
          throw new BackupProblem('failed', `${table.name} was not stored completely`)
      }
    })
    await migrateIn(tx)
    await checkKeys(databaseIn(tx, sql), config, openLog(config.LOG_LEVEL))
    if (kind === 'postgresql') await demandRest(tx)
  })
}

/** @throws BackupProblem for a database that is in use */
export async function emptyTables(tx: TransactionSql) {
  const tables = await tablesOf(tx)
  await demandNoRules(tx, tables)
  const used = await findRows(
    tx,
    tables.filter(({ name }) => name !== OWN),
  )
  if (used !== null)
    throw new BackupProblem('failed', `the database is not empty: ${used} has rows`)
  return tables
}
