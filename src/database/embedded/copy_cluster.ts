/**
 * Copies the embedded database while it is in use, as pg_basebackup does: files are read while they change, and
 * replaying the log of that time repairs them when the copy is opened. The slot keeps that log across checkpoints.
 */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import type { Sql } from 'postgres'
import { CLUSTER, LOCK } from './data_directory.ts'

const SLOT = 'cloakroom_copy'
const LOG = 'pg_wal'
/** Folders with temporary contents, which a copy does not need. The log is copied last. */
const TRANSIENT = new Set([
  LOG,
  'pg_dynshmem',
  'pg_notify',
  'pg_replslot',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
  'pgsql_tmp',
])
const OF_THE_PROCESS = new Set(['postmaster.pid', 'postmaster.opts'])
const PIECE_BYTES = 1024 * 1024
/** Bytes after which the copy is flushed, so that the database's own flushes never wait for many writes of it. */
const FLUSH_BYTES = 8 * PIECE_BYTES

/** @param root an empty directory, then a DATA_DIR with the database's contents when it was whole */
export async function copyCluster(sql: Sql, dataDir: string, root: string): Promise<void> {
  const [from, to] = [join(dataDir, CLUSTER), join(root, CLUSTER)]
  writeFileSync(join(root, LOCK), '', { mode: 0o600 })
  await sql`select pg_create_physical_replication_slot(${SLOT}, true, true)`
  try {
    const { label, last } = await runDuringBackup(sql, () => copyFolder(from, to))
    writeFileSync(join(to, 'backup_label'), label, { mode: 0o600 })
    const first = /\(file ([0-9A-F]{24})\)/.exec(label)?.[1] ?? ''
    for (const name of readdirSync(join(from, LOG)))
      if (name.length === first.length && name >= first && name <= last)
        await copyFile(join(from, LOG, name), join(to, LOG, name))
  } finally {
    await sql`select pg_drop_replication_slot(${SLOT})`
  }
}

type Ended = { label: string; last: string }

/** PostgreSQL writes whole pages to its log meanwhile, so that half a page in the copy does no harm. */
async function runDuringBackup(sql: Sql, work: () => Promise<void>): Promise<Ended> {
  await sql`select pg_backup_start('cloakroom', true)`
  const stop = async () => {
    const [ended] = await sql<Ended[]>`
      select labelfile as label, pg_walfile_name(lsn) as last from pg_backup_stop(false)`
    if (!ended) throw new Error('the end position of the copy is unknown')
    return ended
  }
  try {
    await work()
  } catch (error) {
    await stop()
    throw error
  }
  return await stop()
}

async function copyFolder(from: string, to: string): Promise<void> {
  mkdirSync(to, { mode: 0o700 })
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const { name } = entry
    const places = [join(from, name), join(to, name)] as const
    if (TRANSIENT.has(name)) mkdirSync(places[1], { mode: 0o700 })
    else if (entry.isDirectory()) await copyFolder(...places)
    else if (!OF_THE_PROCESS.has(name)) await copyFile(...places)
  }
}

/** A table may be dropped at any moment: then its end is in the log. */
async function copyFile(from: string, to: string): Promise<void> {
  const source = await open(from).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  })
  if (source === null) return
  try {
    const target = await open(to, 'wx', 0o600)
    try {
      await copyPieces(source, target)
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
}

async function copyPieces(source: FileHandle, target: FileHandle): Promise<void> {
  const piece = Buffer.allocUnsafe(PIECE_BYTES)
  for (let done = 0; ; ) {
    const { bytesRead } = await source.read(piece, 0, PIECE_BYTES, done)
    if (bytesRead === 0) return
    await target.write(piece, 0, bytesRead, done)
    done += bytesRead
    if (done % FLUSH_BYTES === 0) await target.datasync()
  }
}
