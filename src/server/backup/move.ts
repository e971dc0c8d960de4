/** `cloakroom move`: all rows to another database, which has none, or no row at all; both keep their keys. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Sql, TransactionSql } from 'postgres'
import type { Config } from '../../platform/config/config.ts'
import { CLUSTER } from '../../platform/db/embedded/data_directory.ts'
import { type Connection, openDatabase } from '../../platform/db/open.ts'
import { awaitServer } from '../../platform/db/reach.ts'
import { openLog } from '../../platform/log.ts'
import { appliedIn } from './dump.ts'
import type { Sums } from './format.ts'
import { emptyTables, load } from './load.ts'
import { withDatabase } from './make.ts'
import { BackupProblem } from './problem.ts'
import type { TakeRows } from './read.ts'
import { intoDirectory } from './restore.ts'
import { makeTextsExact, rowsOf, type Table, Tally, tablesOf } from './rows.ts'

type Wanted = { to: string; dryRun: boolean }

/** What is there, and was moved unless it was a dry run. */
export type Moved = { sums: Sums; place: string }

/** @throws BackupProblem, ConfigError, DataDirectoryError; then the target has no row, and the source all */
export async function move(config: Config, { to, dryRun }: Wanted): Promise<Moved> {
  const target = targetOf(config, to)
  return await withDatabase(config, ({ sql }) => moveFrom(sql, { target, dryRun }), NOT_RUNNING)
}

const NOT_RUNNING = 'Stop the server first: what it writes meanwhile would be lost.'

async function moveFrom(
  source: Sql,
  { target, dryRun }: { target: Config; dryRun: boolean },
): Promise<Moved> {
  return await source.begin('isolation level repeatable read read only', async (tx) => {
    await makeTextsExact(tx)
    await demandRest(tx)
    const tables = await tablesOf(tx)
    const sums: Sums = {}
    const supply = async (take: TakeRows) => {
      for (const table of tables) sums[table.name] = await supplyTable(tx, table, take)
      return { sums }
    }
    if (dryRun) await supply(async () => {})
    const contents = { tables, migrations: await appliedIn(tx) }
    const fill = (connection: Connection) => load(connection, { config: target, contents }, supply)
    const place = await (dryRun ? lookAt(target) : putInto(target, fill))
    return { sums, place }
  })
}

async function supplyTable(tx: TransactionSql, table: Table, take: TakeRows) {
  const tally = new Tally()
  for await (const rows of rowsOf(tx, table)) {
    for (const row of rows) tally.add(row)
    await take(table.name, rows)
  }
  return tally.sum()
}

/** The embedded database is ours alone by its lock; of PostgreSQL we can only ask. */
async function demandRest(tx: TransactionSql): Promise<void> {
  const [others] = await tx<{ count: number }[]>`
    select count(*)::int as count from pg_stat_activity
    where datname = current_database() and application_name like 'cloakroom%' and pid <> pg_backend_pid()`
  if (others && others.count > 0)
    throw new BackupProblem('failed', `A server uses the database. ${NOT_RUNNING}`)
}

async function putInto(target: Config, fill: (connection: Connection) => Promise<void>) {
  if (target.DB_HOST === undefined) return (await intoDirectory(target, false, fill)).place
  return await withServer(target, async (connection) => {
    await fill(connection)
    return connection.location
  })
}

/** What would refuse the rows, found without changing anything. */
async function lookAt(target: Config): Promise<string> {
  if (target.DB_HOST === undefined) {
    if (!existsSync(join(target.DATA_DIR, CLUSTER))) return target.DATA_DIR
    throw new BackupProblem('file_exists', `${target.DATA_DIR} has a database`)
  }
  return await withServer(target, async ({ sql, location }) => {
    await sql.begin('read only', async (tx) => {
      await emptyTables(tx)
      const [can] = await tx`select has_schema_privilege(current_schema(), 'create') as make`
      if (!can?.make) throw new BackupProblem('failed', 'the role may not make tables there')
    })
    return location
  })
}

async function withServer<T>(target: Config, work: (there: Connection) => Promise<T>): Promise<T> {
  await awaitServer(target, openLog(target.LOG_LEVEL))
  const connection = await openDatabase(target, () => {})
  try {
    return await work(connection)
  } finally {
    await connection.close()
  }
}

/** The settings with which a server will use it. */
function targetOf(config: Config, to: string): Config {
  if (!/^[a-z]+:\/\//i.test(to)) return { ...config, DB_HOST: undefined, DATA_DIR: to }
  const url = URL.parse(to)
  const host = url?.searchParams.get('host') ?? url?.hostname
  if (!url || !/^postgres(ql)?:$/.test(url.protocol) || !host || url.pathname.length < 2)
    throw new BackupProblem(
      'usage',
      'the target must be postgres://user@host:port/database, or a directory',
    )
  const mode = url.searchParams.get('sslmode') ?? config.DB_SSLMODE
  return {
    ...config,
    DB_HOST: host,
    DB_PORT: Number(url.port || 5432),
    DB_NAME: decodeURIComponent(url.pathname.slice(1)),
    DB_USER: decodeURIComponent(url.username),
    DB_PASSWORD: decodeURIComponent(url.password) || process.env.PGPASSWORD,
    DB_SSLMODE: SSL_MODES.find((known) => known === mode) ?? 'verify-full',
    DB_WAIT_SECONDS: 0,
  }
}

const SSL_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-full'] as const
