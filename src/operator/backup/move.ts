/**
 * `cloakroom move`: streams a backup into a restore, without a file. The target must be empty, and both use the same
 * keys.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Sql } from 'postgres'
import { type Config, ConfigError } from '../../core/config/config.ts'
import { withSecretFiles } from '../../core/config/secret_files.ts'
import { CLUSTER } from '../../database/embedded/data_directory.ts'
import { withConnection } from '../connection.ts'
import { contentsOf, readInSnapshot } from './dump.ts'
import type { BackupSums } from './format.ts'
import { emptyTables } from './load.ts'
import { withDatabase } from './make.ts'
import { BackupProblem } from './problem.ts'
import type { TakeRows } from './read.ts'
import { demandRest, NOT_RUNNING, takeAlone } from './rest.ts'
import { fill } from './restore.ts'
import { readTable } from './rows.ts'

type Wanted = { to: string; dryRun: boolean }

/** The source's rows, which were moved unless this was a dry run. */
export type Moved = { sums: BackupSums; place: string }

/** @throws BackupProblem, ConfigError, DataDirectoryError; then the target has no row, and the source all */
export async function move(config: Config, { to, dryRun }: Wanted): Promise<Moved> {
  const target = targetOf(config, to)
  return await withDatabase(config, { mayBeOlder: true, inUse: NOT_RUNNING }, ({ sql }) =>
    moveFrom(sql, { source: config, target, dryRun }),
  )
}

async function moveFrom(
  sql: Sql,
  { source, target, dryRun }: { source: Config; target: Config; dryRun: boolean },
): Promise<Moved> {
  // The lock of the embedded database excludes other processes.
  const isServer = source.DB_HOST !== undefined
  return await readInSnapshot(sql, async (tx) => {
    if (isServer) await (dryRun ? demandRest(tx) : takeAlone(tx))
    const contents = await contentsOf(tx)
    const sums: BackupSums = {}
    const supply = async (take?: TakeRows) => {
      for (const table of contents.tables)
        sums[table.name] = await readTable(tx, table, async (rows) => take?.(table.name, rows))
      if (isServer) await demandRest(tx)
      return { sums }
    }
    if (dryRun) await supply()
    const done = dryRun ? lookAt(target) : fill(target, { ...contents, supply })
    const { place } = await done.catch((error: unknown) => {
      throw refusalOf(error, target)
    })
    return { sums, place }
  })
}

/** Finds reasons why the target would refuse the rows, without a change. */
async function lookAt(target: Config): Promise<{ place: string }> {
  if (target.DB_HOST === undefined) {
    if (!existsSync(join(target.DATA_DIR, CLUSTER))) return { place: target.DATA_DIR }
    throw new BackupProblem('file_exists', `${target.DATA_DIR} already has a database`)
  }
  return await withConnection(target, async ({ sql, location }) => {
    await sql.begin('read only', async (tx) => {
      await demandRest(tx)
      await emptyTables(tx)
      const [can] = await tx`select has_schema_privilege(current_schema(), 'create') as make`
      if (!can?.make)
        throw new BackupProblem('failed', 'the role cannot create tables in the target')
    })
    return { place: location }
  })
}

/** Explains a refusal by PostgreSQL to the person who typed the target. */
function refusalOf(error: unknown, { DB_NAME, DB_USER, DB_PASSWORD }: Config): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code === '3D000')
    return new BackupProblem('failed', `the target has no database ${DB_NAME}: create it first`)
  if (!code.startsWith('28')) return error
  if (!DB_USER) return new BackupProblem('usage', 'the target has no user: postgres://user@…')
  if (DB_PASSWORD)
    return new BackupProblem('failed', `PostgreSQL rejected the user ${DB_USER} or the password`)
  return new BackupProblem(
    'usage',
    `PostgreSQL requires a password for ${DB_USER}: set PGPASSWORD, or PGPASSWORD_FILE to the path of a file with it`,
  )
}

/** The settings with which a server will use the target. */
function targetOf(config: Config, to: string): Config {
  if (!/^[a-z]+:\/\//i.test(to)) return { ...config, DB_HOST: undefined, DATA_DIR: to }
  const url = URL.parse(to)
  const host = url?.searchParams.get('host') ?? url?.hostname
  if (!url || !/^postgres(ql)?:$/.test(url.protocol) || !host || url.pathname.length < 2)
    throw new BackupProblem(
      'usage',
      'the target must be postgres://user@host:port/database, or a directory',
    )
  const [database, user, password] = [url.pathname.slice(1), url.username, url.password].map(
    decodePart,
  )
  const mode = url.searchParams.get('sslmode') ?? config.DB_SSLMODE
  return {
    ...config,
    DB_HOST: host,
    DB_PORT: Number(url.port || 5432),
    DB_NAME: database,
    DB_USER: user,
    DB_PASSWORD: password || readGivenPassword(),
    DB_SSLMODE: SSL_MODES.find((known) => known === mode) ?? 'verify-full',
    DB_WAIT_SECONDS: 0,
  }
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw new BackupProblem('usage', 'write a literal % in the target as %25')
  }
}

/** From the environment or a file, like the server's password. Everybody on the machine could see it in the URL. */
function readGivenPassword(): string | undefined {
  const { env, problems } = withSecretFiles(process.env, ['PGPASSWORD'])
  if (problems.length > 0) throw new ConfigError(problems)
  return env.PGPASSWORD
}

const SSL_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-full'] as const
