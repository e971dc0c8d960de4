/**
 * Applies drizzle/ at start: append-only, in order, each file once, all in one transaction, so that a kill leaves the
 * old schema or the new one. An advisory lock makes starting processes wait for each other. drizzle's own migrator
 * reads from disk and silently skips files older than the newest applied one, so this short one replaces it.
 *
 * Processes of older versions continue to serve meanwhile. A migration that waited for a table of theirs would block
 * all later statements, so it waits for two seconds, cancels and tries again.
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
import resealing from '../../../drizzle/0019_resealing.sql' with { type: 'text' }
import sharedLimits from '../../../drizzle/0020_shared_limits.sql' with { type: 'text' }
import tokenUses from '../../../drizzle/0021_token_uses.sql' with { type: 'text' }
import usedIds from '../../../drizzle/0022_used_ids.sql' with { type: 'text' }
import narrowedTokens from '../../../drizzle/0023_narrowed_tokens.sql' with { type: 'text' }
import unfilled from '../../../drizzle/0024_unfilled.sql' with { type: 'text' }
import preloginKey from '../../../drizzle/0025_prelogin_key.sql' with { type: 'text' }
import auditChanges from '../../../drizzle/0026_audit_changes.sql' with { type: 'text' }
import derivedStates from '../../../drizzle/0027_derived_states.sql' with { type: 'text' }
import approvals from '../../../drizzle/0028_approvals.sql' with { type: 'text' }
import { AlteredHistory, NewerSchema, SchemaInUse } from './schema_error.ts'

export type Migration = {
  name: string
  text: string
  /** Older versions can no longer use the schema (docs/guides/upgrade.md). */
  breaksOlder?: true
}

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
  { name: '0019_resealing', text: resealing },
  { name: '0020_shared_limits', text: sharedLimits },
  { name: '0021_token_uses', text: tokenUses },
  { name: '0022_used_ids', text: usedIds },
  { name: '0023_narrowed_tokens', text: narrowedTokens },
  { name: '0024_unfilled', text: unfilled },
  { name: '0025_prelogin_key', text: preloginKey },
  { name: '0026_audit_changes', text: auditChanges },
  { name: '0027_derived_states', text: derivedStates },
  { name: '0028_approvals', text: approvals },
]

const ADVISORY_LOCK = 6_021_023_004
const SEPARATOR = '--> statement-breakpoint'
/** lock_not_available, deadlock_detected. */
const MEANWHILE_LOCKED = new Set(['55P03', '40P01'])
const LOCK_WAIT_MS = 2_000
const PAUSE_MS = 1_000
const TRIES = 60

type Options = {
  /** Called each time that another transaction was in the way. */
  onWait?: () => void
  tries?: number
  pause?: () => Promise<void>
}

/**
 * Brings the schema up to date and returns how many migrations were applied. One that is up to date is only read.
 *
 * @throws SchemaError
 */
export async function migrate(
  sql: postgres.Sql,
  list: readonly Migration[] = migrations,
  { onWait, tries = TRIES, pause = () => Bun.sleep(PAUSE_MS) }: Options = {},
): Promise<number> {
  const applied = await readApplied(sql)
  if (applied && pendingOf(applied, list).length === 0) return 0
  for (let left = tries - 1; ; left -= 1) {
    try {
      return await sql.begin((tx) => migrateIn(tx, list))
    } catch (error) {
      if (!MEANWHILE_LOCKED.has(codeOf(error))) throw error
      if (left <= 0) throw new SchemaInUse(error)
      onWait?.()
      await pause()
    }
  }
}

/** Applies migrations in a transaction that also does other work. */
export async function migrateIn(
  tx: postgres.TransactionSql,
  list: readonly Migration[] = migrations,
): Promise<number> {
  await tx`select pg_advisory_xact_lock(${ADVISORY_LOCK})`
  await tx.unsafe(`set local lock_timeout = ${LOCK_WAIT_MS}`)
  await tx`create table if not exists cloakroom_migrations (
    name text primary key, sha256 text not null, applied_at timestamptz not null default now())`
  await tx`alter table cloakroom_migrations
    add column if not exists keeps_older boolean not null default false`
  const pending = pendingOf((await readApplied(tx)) ?? [], list)
  for (const migration of pending) await apply(tx, migration)
  // Other statements of the transaction wait for locks as usual.
  await tx.unsafe('set local lock_timeout to default')
  return pending.length
}

/** Returns how many migrations a start would apply; `null` if the database has no tables yet. @throws SchemaError */
export async function countPendingMigrations(sql: postgres.Sql): Promise<number | null> {
  const applied = await readApplied(sql)
  return applied && pendingOf(applied, migrations).length
}

type Applied = {
  name: string
  sha256: string
  /** Set by the process that applied it: older versions may continue to use the schema. */
  keepsOlder: boolean
}

/** In their order; `null` if the database has no tables yet. */
export async function readApplied(
  sql: postgres.Sql | postgres.TransactionSql,
): Promise<Applied[] | null> {
  const [row] = await sql<{ found: boolean }[]>`
    select to_regclass('cloakroom_migrations') is not null as found`
  if (!row?.found) return null
  // An old table lacks the column.
  return await sql<Applied[]>`
    select name, sha256, coalesce((to_jsonb(m) ->> 'keeps_older')::boolean, false) as "keepsOlder"
    from cloakroom_migrations m order by name`
}

/** Returns the migrations that are not applied. @throws SchemaError */
export function pendingOf(
  applied: readonly Applied[],
  list: readonly Migration[] = migrations,
): readonly Migration[] {
  for (const [index, { name, sha256 }] of applied.entries()) {
    const known = list[index]
    if (known && (known.name !== name || hash(known) !== sha256)) throw new AlteredHistory(name)
  }
  const later = applied.slice(list.length)
  const breaking = later.find(({ keepsOlder }) => !keepsOlder)
  if (breaking) throw new NewerSchema(breaking.name, list.at(-1)?.name)
  return list.slice(applied.length)
}

async function apply(tx: postgres.TransactionSql, migration: Migration): Promise<void> {
  const { name, text, breaksOlder = false } = migration
  for (const statement of text.split(SEPARATOR)) await tx.unsafe(statement)
  await tx`insert into cloakroom_migrations (name, sha256, keeps_older)
    values (${name}, ${hash(migration)}, ${!breaksOlder})`
}

function hash({ text }: Migration): string {
  return new Bun.CryptoHasher('sha256').update(text).digest('hex')
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
