/**
 * Applies drizzle/ at start: append-only, in order, each file once, all in one transaction, so that a
 * kill leaves the old schema or the new one. An advisory lock makes starting processes wait for each
 * other. drizzle's own migrator reads from disk and skips files older than the newest applied one
 * without a word, which is why this short one exists.
 */
import type postgres from 'postgres'
import initial from '../../../drizzle/0000_initial.sql' with { type: 'text' }
import policyVersion from '../../../drizzle/0001_policy_version.sql' with { type: 'text' }
import auditIndexes from '../../../drizzle/0002_audit_indexes.sql' with { type: 'text' }
import dailyMetrics from '../../../drizzle/0003_daily_metrics.sql' with { type: 'text' }
import policyNotices from '../../../drizzle/0004_policy_notices.sql' with { type: 'text' }
import capabilities from '../../../drizzle/0005_capabilities.sql' with { type: 'text' }
import corrections from '../../../drizzle/0006_corrections.sql' with { type: 'text' }
import auditJournal from '../../../drizzle/0007_audit_journal.sql' with { type: 'text' }
import secretsFillfactor from '../../../drizzle/0008_secrets_fillfactor.sql' with { type: 'text' }
import deletedSecrets from '../../../drizzle/0009_deleted_secrets.sql' with { type: 'text' }
import auditTerms from '../../../drizzle/0010_audit_terms.sql' with { type: 'text' }
import auditRefused from '../../../drizzle/0011_audit_refused.sql' with { type: 'text' }
import signingKeys from '../../../drizzle/0012_signing_keys.sql' with { type: 'text' }
import signedWorkspaces from '../../../drizzle/0013_signed_workspaces.sql' with { type: 'text' }
import valueHashes from '../../../drizzle/0014_value_hashes.sql' with { type: 'text' }
import passkeys from '../../../drizzle/0015_passkeys.sql' with { type: 'text' }
import refusedBy from '../../../drizzle/0016_refused_by.sql' with { type: 'text' }
import sessionPasskeys from '../../../drizzle/0017_session_passkeys.sql' with { type: 'text' }
import backups from '../../../drizzle/0018_backups.sql' with { type: 'text' }

type Migration = { name: string; text: string }

/** In the order of drizzle/meta/_journal.json; a test compares both. */
export const migrations: readonly Migration[] = [
  { name: '0000_initial', text: initial },
  { name: '0001_policy_version', text: policyVersion },
  { name: '0002_audit_indexes', text: auditIndexes },
  { name: '0003_daily_metrics', text: dailyMetrics },
  { name: '0004_policy_notices', text: policyNotices },
  { name: '0005_capabilities', text: capabilities },
  { name: '0006_corrections', text: corrections },
  { name: '0007_audit_journal', text: auditJournal },
  { name: '0008_secrets_fillfactor', text: secretsFillfactor },
  { name: '0009_deleted_secrets', text: deletedSecrets },
  { name: '0010_audit_terms', text: auditTerms },
  { name: '0011_audit_refused', text: auditRefused },
  { name: '0012_signing_keys', text: signingKeys },
  { name: '0013_signed_workspaces', text: signedWorkspaces },
  { name: '0014_value_hashes', text: valueHashes },
  { name: '0015_passkeys', text: passkeys },
  { name: '0016_refused_by', text: refusedBy },
  { name: '0017_session_passkeys', text: sessionPasskeys },
  { name: '0018_backups', text: backups },
]

const ADVISORY_LOCK = 6_021_023_004
const SEPARATOR = '--> statement-breakpoint'

/**
 * Brings the schema up to date and returns how many migrations were applied.
 *
 * @throws Error when an applied migration's text has changed, or the database is of a later version
 */
export async function migrate(
  sql: postgres.Sql,
  list: readonly Migration[] = migrations,
): Promise<number> {
  return await sql.begin(async (tx) => await migrateIn(tx, list))
}

/** The same in a transaction that does more. */
export async function migrateIn(
  tx: postgres.TransactionSql,
  list: readonly Migration[] = migrations,
): Promise<number> {
  await tx`select pg_advisory_xact_lock(${ADVISORY_LOCK})`
  await tx`create table if not exists cloakroom_migrations (
    name text primary key, sha256 text not null, applied_at timestamptz not null default now())`
  const applied = await tx<{ name: string; sha256: string }[]>`
    select name, sha256 from cloakroom_migrations order by name`
  checkHistory(applied, list)
  for (const migration of list.slice(applied.length)) await apply(tx, migration)
  return list.length - applied.length
}

/** How many a start would apply, `null` if the database has no tables yet. @throws Error as `migrate` */
export async function pendingMigrations(sql: postgres.Sql): Promise<number | null> {
  const [row] = await sql<{ found: boolean }[]>`
    select to_regclass('cloakroom_migrations') is not null as found`
  if (!row?.found) return null
  const applied = await sql<{ name: string; sha256: string }[]>`
    select name, sha256 from cloakroom_migrations order by name`
  checkHistory(applied, migrations)
  return migrations.length - applied.length
}

function checkHistory(
  applied: readonly { name: string; sha256: string }[],
  list: readonly Migration[],
): void {
  for (const [index, { name, sha256 }] of applied.entries()) {
    const known = list[index]
    if (!known) throw new Error(`the database was migrated by a later version (${name})`)
    if (known.name !== name || hash(known) !== sha256) {
      throw new Error(`migration ${name} differs from the one that was applied`)
    }
  }
}

async function apply(tx: postgres.TransactionSql, migration: Migration): Promise<void> {
  for (const statement of migration.text.split(SEPARATOR)) await tx.unsafe(statement)
  await tx`insert into cloakroom_migrations (name, sha256) values (${migration.name}, ${hash(migration)})`
}

function hash({ text }: Migration): string {
  return new Bun.CryptoHasher('sha256').update(text).digest('hex')
}
