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

/** Like an operator does it. */
export async function partitionAudit({ bin, socketDir }: Cluster, name: string): Promise<void> {
  const file = join(import.meta.dir, '../../docs/deploy/audit_partitions.sql')
  const options = [
    '-h',
    socketDir,
    '-U',
    'cloakroom',
    '-d',
    name,
    '-v',
    'ON_ERROR_STOP=1',
    '-qf',
    file,
  ]
  const psql = watched(
    Bun.spawn([join(bin, 'psql'), ...options], { stdout: 'ignore', stderr: 'pipe' }),
  )
  const errors = await new Response(psql.stderr).text()
  if ((await psql.exited) !== 0) throw new Error(errors)
}

/** The variables that select a database of a cluster. */
export function databaseVariables(socketDir: string, name: string): Record<string, string> {
  return { DB_HOST: socketDir, DB_NAME: name, DB_USER: 'cloakroom', DB_SSLMODE: 'disable' }
}
