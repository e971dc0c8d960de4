/** What the database takes, and what may stop it: size, growth, log, slots, connections. */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { CLUSTER } from '../../database/embedded/data_directory.ts'
import { pendingMigrations } from '../../database/migrations/migrate.ts'
import { BackupProblem } from '../backup/problem.ts'
import { tablesOf } from '../backup/rows.ts'
import { compareClocks } from '../self_check/clock.ts'
import { freeBytesOf } from '../self_check/limits.ts'
import {
  count,
  DAY_MS,
  type DoctorCheck,
  type Found,
  numbers,
  type Patient,
  size,
  well,
} from './finding.ts'

const docs = 'docs/operations.md#databases'
const DAYS = 7

export const databaseChecks: readonly DoctorCheck[] = [
  { name: 'schema', docs: 'docs/upgrading.md', run: checkSchema },
  { name: 'size', docs, run: checkSize },
  { name: 'wal', docs, run: checkWal },
  { name: 'slots', docs, run: checkSlots },
  { name: 'connections', docs, run: checkConnections },
  { name: 'clock', docs, run: checkClock },
]

async function checkSchema({ connection }: Patient): Promise<Found> {
  const pending = await pendingMigrations(connection.sql)
  if (pending === 0)
    return (await strangeTable(connection)) ?? well('the schema is that of this version')
  return {
    level: 'warn',
    said: `${count(pending ?? 0, 'migration')} of this version are not applied`,
    todo: 'start the server of this version: cloakroom upgrade --check says what that does',
  }
}

/** What others changed in our tables: a server may go on with it, and no backup does. */
async function strangeTable({ sql }: Patient['connection']): Promise<Found | null> {
  try {
    await sql.begin('read only', (tx) => tablesOf(tx))
    return null
  } catch (error) {
    if (!(error instanceof BackupProblem)) throw error
    return {
      level: 'fail',
      said: error.message,
      todo: 'undo that: cloakroom backup and move are refused, since a restore would not fit or not be whole',
    }
  }
}

async function checkSize(patient: Patient): Promise<Found> {
  const since = new Date(patient.now() - DAYS * DAY_MS).toISOString()
  // With partitions the table itself has nothing.
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
  const said = `the database has ${size(row.all)}, the audit ${size(row.audit)} of it; it grows by ${size(growth)} a day`
  const free = freeOf(patient)
  if (free === null) return well(said)
  const days = growth > 0 ? free / growth : Number.POSITIVE_INFINITY
  if (free >= patient.limits.freeBytes && days >= patient.limits.daysLeft)
    return well(`${said}, and ${size(free)} are free`)
  return {
    level: 'warn',
    said: `${said}, and only ${size(free)} are free`,
    todo: 'give it a larger disk, or keep less audit: AUDIT_RETENTION_DAYS',
  }
}

/** Of the disk that the embedded database is on; another machine's is not known. */
function freeOf({ connection, config }: Patient): number | null {
  return connection.kind === 'embedded' ? freeBytesOf(config.DATA_DIR) : null
}

async function checkWal(patient: Patient): Promise<Found> {
  const bytes = await walBytes(patient)
  if (bytes === null)
    return well('its log is not shown to this user: grant pg_monitor to have it looked at')
  if (bytes <= patient.limits.walBytes) return well(`its log has ${size(bytes)}`)
  return {
    level: 'warn',
    said: `its log has ${size(bytes)}`,
    todo: 'look for a replication slot or an archive_command that holds it',
  }
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
  if (slots === 0) return well('no replication slot')
  const said = `${count(slots, 'replication slot')}, ${idle} without a reader, the furthest behind holds ${size(held)} of the log`
  if (idle === 0 && held <= patient.limits.walBytes) return well(said)
  return {
    level: 'warn',
    said,
    todo: 'bring the replica back, or drop the slot: the log grows until the disk is full',
  }
}

async function checkConnections(patient: Patient): Promise<Found> {
  if (patient.connection.kind === 'embedded') return well('the embedded database has one')
  const { used, most } = await numbers<'used' | 'most'>(
    patient,
    `select (select count(*)::float8 from pg_stat_activity where backend_type = 'client backend') as used,
      current_setting('max_connections')::float8 as most`,
  )
  const said = `${used} of ${most} connections are in use`
  if (used <= most * patient.limits.connectionShare) return well(said)
  return { level: 'warn', said, todo: 'raise max_connections, or put a pooler in between' }
}

async function checkClock({ connection, now }: Patient): Promise<Found> {
  return well(await compareClocks(connection.kind === 'embedded' ? null : connection.sql, now))
}
