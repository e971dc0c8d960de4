/** Checks the database's size, and what may stop it: growth, log, slots, connections. */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { CLUSTER } from '../../database/embedded/data_directory.ts'
import { countPendingMigrations } from '../../database/migrations/migrate.ts'
import { BackupProblem } from '../backup/problem.ts'
import { tablesOf } from '../backup/rows.ts'
import { type Check, type Found, fail, type Patient, warn } from './check.ts'
import { freeBytesOf } from './limits.ts'
import { count, DAY_MS, numbers, size } from './measure.ts'

const docs = 'docs/guides/self-hosting.md#database'
const DAYS = 7

export const storageChecks: readonly Check<Patient>[] = [
  { name: 'schema', docs: 'docs/guides/upgrade.md', run: checkSchema },
  { name: 'size', docs, run: checkSize },
  { name: 'wal', docs, run: checkWal },
  { name: 'slots', docs, run: checkSlots },
  { name: 'connections', docs, run: checkConnections },
]

async function checkSchema({ connection: { sql } }: Patient): Promise<Found> {
  const pending = await countPendingMigrations(sql)
  if (pending !== 0)
    return warn(
      `${count(pending ?? 0, 'migration')} of this version are not applied`,
      'start this version of the server; preview the changes with cloakroom upgrade --check',
    )
  try {
    await sql.begin('read only', (tx) => tablesOf(tx))
    return 'the schema matches this version'
  } catch (error) {
    // Cloakroom's tables were changed: a server may continue, but backups fail.
    if (!(error instanceof BackupProblem)) throw error
    return fail(
      error.message,
      'undo the change: cloakroom backup and move are refused because a restore would fail or be incomplete',
    )
  }
}

async function checkSize(patient: Patient): Promise<Found> {
  const since = new Date(patient.now() - DAYS * DAY_MS).toISOString()
  // A partitioned table itself is empty.
  const row = await numbers<'all' | 'audit' | 'records' | 'recent'>(
    patient,
    `select pg_database_size(current_database())::float8 as "all", audit.bytes as audit, audit.records,
      (select count(*)::float8 from audit_logs where recorded_at > $1::text::timestamptz) as recent
     from (select sum(pg_total_relation_size(oid))::float8 as bytes, sum(greatest(reltuples, 0))::float8 as records
       from pg_class where oid = 'audit_logs'::regclass
         or oid in (select inhrelid from pg_inherits where inhparent = 'audit_logs'::regclass)) audit`,
    [since],
  )
  const perRow = row.audit / Math.max(row.records, row.recent, 1)
  const growth = (row.recent / DAYS) * perRow
  const said = `the database has ${size(row.all)}, including ${size(row.audit)} of audit log, which grows by ${size(growth)} a day`
  // The disk of another machine cannot be checked.
  if (patient.connection.kind !== 'embedded') return said
  const free = freeBytesOf(patient.config.DATA_DIR)
  const days = growth > 0 ? free / growth : Number.POSITIVE_INFINITY
  if (free >= patient.limits.freeBytes && days >= patient.limits.daysLeft)
    return `${said}, and ${size(free)} are free`
  return warn(
    `${said}, and only ${size(free)} are free`,
    'use a larger disk, or keep less of the audit log: AUDIT_RETENTION_DAYS',
  )
}

async function checkWal(patient: Patient): Promise<Found> {
  const bytes = await walBytes(patient)
  if (bytes === null) return 'not checked: this user cannot see the log; grant it pg_monitor'
  const said = `the write-ahead log has ${size(bytes)}`
  if (bytes <= patient.limits.walBytes) return said
  return warn(said, 'look for a replication slot or an archive_command that retains it')
}

async function walBytes(patient: Patient): Promise<number | null> {
  const { connection, config } = patient
  if (connection.kind === 'embedded') {
    const folder = join(config.DATA_DIR, CLUSTER, 'pg_wal')
    const files = readdirSync(folder).map((name) =>
      statSync(join(folder, name), { throwIfNoEntry: false }),
    )
    return files.reduce((sum, file) => sum + (file?.isFile() ? file.size : 0), 0)
  }
  const query = 'select sum(size)::float8 as bytes from pg_ls_waldir()'
  return await numbers<'bytes'>(patient, query).then(
    ({ bytes }) => bytes,
    (error: unknown) => {
      if (error instanceof Error && 'code' in error && error.code === '42501') return null
      throw error
    },
  )
}

async function checkSlots(patient: Patient): Promise<Found> {
  const { slots, idle, held } = await numbers<'slots' | 'idle' | 'held'>(
    patient,
    `select count(*)::float8 as slots, (count(*) filter (where not active))::float8 as idle,
      coalesce(max(pg_wal_lsn_diff(case when pg_is_in_recovery() then pg_last_wal_receive_lsn()
        else pg_current_wal_lsn() end, restart_lsn)), 0)::float8 as held from pg_replication_slots`,
  )
  if (slots === 0) return 'no replication slot'
  const said = `${count(slots, 'replication slot')}, ${idle} inactive, retaining up to ${size(held)} of the write-ahead log`
  if (idle === 0 && held <= patient.limits.walBytes) return said
  return warn(said, 'restart the replica, or drop the slot: otherwise, the log fills the disk')
}

async function checkConnections(patient: Patient): Promise<Found> {
  if (patient.connection.kind === 'embedded') return 'the embedded database has one connection'
  const { used, most } = await numbers<'used' | 'most'>(
    patient,
    `select (select count(*)::float8 from pg_stat_activity where backend_type = 'client backend') as used,
      current_setting('max_connections')::float8 as most`,
  )
  const said = `${used} of ${most} connections are in use`
  if (used <= most * patient.limits.connectionShare) return said
  return warn(said, 'raise max_connections, or use a connection pooler')
}
