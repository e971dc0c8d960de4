/**
 * Databases with the current schema. The migrations take longer than most tests, so they run once (in the suite by
 * its runner, for all processes), and each test gets a copy of the result.
 */
import { join } from 'node:path'
import { readConfig } from '../../src/core/config/config.ts'
import { migrate } from '../../src/database/migrations/migrate.ts'
import { openDatabase } from '../../src/database/open.ts'
import { databasePlace } from './places.ts'
import type { Cluster } from './postgres.ts'
import { watched } from './watched.ts'

/** The name of the prepared database in a cluster. */
export const PREPARED = 'prepared'

/** @param env the variables that select an empty database. */
async function prepare(env: Record<string, string>): Promise<void> {
  const keys = {
    SECRET_KEY: 'k'.repeat(36),
    ENCRYPTION_KEY: Buffer.alloc(32).toString('base64url'),
  }
  const config = readConfig({ ...keys, ...env }, () => keys)
  const fail = (reason: string) => {
    throw new Error(reason)
  }
  const { sql, close } = await openDatabase(config, fail)
  await migrate(sql)
  await close()
}

/** A data directory; `TEST_PREPARED` is the one that the runner made. */
export async function prepareDirectory(): Promise<string> {
  const made = process.env.TEST_PREPARED
  if (made !== undefined) return made
  const directory = join(databasePlace, `prepared-${process.pid}`)
  await prepare({ DATA_DIR: directory })
  return directory
}

export async function prepareCluster(cluster: Cluster): Promise<void> {
  const name = await cluster.createDatabase({ name: PREPARED, isKept: true })
  await prepare(databaseVariables(cluster.socketDir, name))
  if (process.env.TEST_AUDIT === 'partitioned') await partitionAudit(cluster, name)
}

/** Runs the command of docs/guides/scaling.md. The pages are read only where it is needed. */
export async function partitionAudit(cluster: Cluster, name: string): Promise<void> {
  const { scriptOf } = await import('../docs/blocks.ts')
  await runAsAdministrator(cluster, name, scriptOf('docs/guides/scaling.md', 'partitions'))
}

/**
 * Runs a script of shell in docs/deploy, where `psql` connects to a database as its administrator.
 *
 * @throws Error for a failed statement, after which psql may continue and end with 0
 */
export async function runAsAdministrator(
  { bin, socketDir }: Cluster,
  database: string,
  script: string,
): Promise<void> {
  const PATH = `${bin}:${process.env.PATH}`
  const env = { PATH, PGHOST: socketDir, PGUSER: 'cloakroom', PGDATABASE: database }
  const cwd = join(import.meta.dir, '../../docs/deploy')
  const options = { cwd, env, stdout: 'ignore', stderr: 'pipe' } as const
  const shell = watched(Bun.spawn(['sh', '-ec', script], options))
  const errors = await new Response(shell.stderr).text()
  if ((await shell.exited) !== 0 || errors.includes('ERROR:')) throw new Error(errors)
}

/** The variables that select a database of a cluster. */
export function databaseVariables(socketDir: string, name: string): Record<string, string> {
  return { DB_HOST: socketDir, DB_NAME: name, DB_USER: 'cloakroom', DB_SSLMODE: 'disable' }
}
