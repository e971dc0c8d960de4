/**
 * The source of a running server's backup. The embedded database has one session, which a long transaction would block
 * for everybody. So a large database is copied first. Only a small one is read directly.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Sql } from 'postgres'
import type { Config } from '../../core/config/config.ts'
import type { Log } from '../../core/log.ts'
import { copyCluster } from '../../database/embedded/copy_cluster.ts'
import { SPOOL_PREFIX } from '../../database/embedded/data_directory.ts'
import { RESERVE_BYTES } from '../../database/embedded/upkeep.ts'
import type { Connection } from '../../database/open.ts'
import { freeBytesOf } from '../checks/limits.ts'
import { withConnection } from '../connection.ts'
import { type Dumped, dump } from './dump.ts'
import { encrypterFor, writeLines } from './file.ts'
import { requireBackupRoom } from './room.ts'

type Server = {
  connection: Connection
  config: Config
  log: Log
  /** On the disk of a folder. */
  freeBytes?: typeof freeBytesOf
}

/** Bytes that are read quickly. */
const SMALL_BYTES = 8 * 1024 * 1024

/** One copy at a time. */
let last: Promise<unknown> = Promise.resolve()

/** @throws BackupProblem */
export async function backUpServer(
  server: Server & { now: () => number },
  file: string,
  recipients: readonly string[],
): Promise<Dumped> {
  const { connection, config, now } = server
  await requireBackupRoom(connection.sql, dirname(file))
  const encrypter = encrypterFor(recipients)
  const encryptionKey = config.ENCRYPTION_KEY
  return await withSource(server, (sql) =>
    writeLines(file, encrypter, (take) => dump({ sql, encryptionKey, now }, take)),
  )
}

export async function withSource<T>(server: Server, work: (sql: Sql) => Promise<T>): Promise<T> {
  const { connection } = server
  if (connection.kind === 'postgresql') return await work(connection.sql)
  const mine = last.then(() => fromEmbedded(server, work))
  last = mine.catch(() => {})
  return await mine
}

async function fromEmbedded<T>(
  { connection: { sql }, config, log, freeBytes = freeBytesOf }: Server,
  work: (sql: Sql) => Promise<T>,
): Promise<T> {
  const { own, all } = await sizesOf(sql)
  if (own < SMALL_BYTES) return await work(sql)
  const root = resolve(config.DATA_DIR)
  const [needed, free] = [all + 2 * RESERVE_BYTES, freeBytes(root)]
  if (free < needed) {
    const message = 'no space for a copy of the database: it is blocked until the backup is done'
    log.warning(message, { needed, free })
    return await work(sql)
  }
  const folder = mkdtempSync(join(root, SPOOL_PREFIX))
  try {
    await copyCluster(sql, root, folder)
    const onFailure = (reason: string) => log.error('the database could not be copied', { reason })
    return await withConnection(
      { ...config, DATA_DIR: folder },
      (copy) => work(copy.sql),
      onFailure,
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Returns the size of Cloakroom's tables, and the size of a full copy. */
async function sizesOf(sql: Sql): Promise<{ own: number; all: number }> {
  const [sizes] = await sql<{ own: number; all: number }[]>`
    select sum(pg_total_relation_size(oid))::float8 as own, pg_database_size(current_database())::float8 as "all"
    from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace`
  return sizes ?? { own: 0, all: 0 }
}
