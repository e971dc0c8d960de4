// tier: quick, both databases in test:all
/**
 * A statement that writes outside a transaction can be executed late, after its connection was dropped and a newer
 * write was acknowledged on another one. Each such statement is listed here with the reason why that is harmless. All
 * others need a transaction (docs/internals/architecture.md, "Path of a request"). The test reads the source text.
 */
import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as schema from '../../src/database/schema/index.ts'

/** By file and the first words of the statement. */
const REASONS: Record<string, string> = {
  'access/tokens.ts update tokens': 'only what is still as it was read',
  "approvals/request_store.ts update approvals set status = 'expired'":
    'is made in a transaction below',
  'approvals/request_store.ts insert into approvals': 'is made in a transaction below',
  'approvals/request_store.ts update approvals set details = null':
    'is made in a transaction below',
  'approvals/request_store.ts delete from approvals': 'is made in a transaction below',
  "approvals/request_store.ts update approvals set status = 'used'":
    'uses up a release for a call that did not get it: refuses more',
  'approvals/upkeep.ts update approvals set details = null': 'what is old then',
  'approvals/upkeep.ts delete from approvals': 'what is old then',
  'approvals/upkeep.ts delete from proposals': 'what is old then',
  'audit/journal.ts insert into audit_journal':
    'stores what is live when it arrives; what was refused meanwhile is an intent without outcome',
  'audit/write_records.ts with gone as (delete from audit_journal where id = any($1::text::uuid[]) returning 1) insert into audit_logs':
    'by id, and changes only what has no outcome',
  'audit/write_records.ts with gone as (delete from audit_journal where id = any($1::text::uuid[]) returning 1) insert into audit_refused':
    'by id, and changes nothing that is there',
  'audit/last_use.ts insert into token_uses': 'only forwards',
  'audit/last_use.ts delete from token_uses':
    'of tokens that are gone, whose ids are never given again',
  'audit/changes.ts db.insert(auditChanges)':
    'a separate record; one of a read without transaction',
  'audit/changes.ts with moved as (delete from audit_changes where id = any (array(select id from audit_changes order by id limit ? for update)) returning *) insert into audit_logs':
    'moves each row once, since the same statement deletes it',
  'audit/changes.ts vacuum (skip_locked,': 'changes no rows',
  'audit/trail.ts vacuum (skip_locked,': 'changes no rows',
  'features/accounts/sessions.ts db.update(sessions)': 'ends what is not ended: never undone',
  'features/audit/upkeep.ts vacuum audit_deltas': 'changes no rows',
  'features/audit/upkeep.ts delete from audit_refused': 'what is old then',
  'features/metrics/activity.ts db.insert(userActivity)': 'adds a day of a person, or nothing',
  'features/secrets/held.ts delete from secret_versions v':
    'is made in a transaction: its function takes one',
  'features/passkeys/queries.ts db.delete(passkeys)': 'by id, which is never given again',
  'features/statements/manifests.ts db.insert(manifests)':
    'is made in a transaction: its function takes one',
  'features/secrets/queries.ts delete from secret_versions v using secrets s':
    'is made in a transaction: its function takes one',
  'features/secrets/queries.ts with sent as (select * from json_to_recordset($5::text::json)':
    'is made in a transaction: its function takes one',
  'features/projects/deleted.ts db.delete(table)': 'what can no longer be restored then',
  'notices/notices.ts with targets as (':
    'queues a notice once for each cause; one that is late is sent late',
  'notices/queue.ts with due as (': 'takes what is due then; it is due again after its lease',
  "notices/queue.ts update notices set status = 'delivered'": 'by id, and only what is queued',
  "notices/queue.ts update notices set status = 'failed'": 'by id, and only what is queued',
  'notices/queue.ts update notices set status = case':
    'only what is queued: it is sent later, or not again',
  "notices/upkeep.ts update notices set status = 'failed'": 'what is old then',
  'notices/upkeep.ts delete from notices': 'what is old then',
  'notices/upkeep.ts delete from notice_targets': 'what was deleted, and has nothing queued then',
  'renewal/lease_statements.ts with live as (':
    'takes a lease that is free when it arrives, and which ends by itself',
  'renewal/lease_statements.ts update derived_states set lease_until':
    'only by the holder of a live lease',
  'renewal/lease_statements.ts update derived_states set lease_id = null': 'only of the same lease',
  'renewal/lease_statements.ts with held as materialized (': 'only the next generation',
  'renewal/lease_statements.ts update derived_states d set lease_id':
    'only of the same lease and generation',
  'renewal/lease_statements.ts with expired as (':
    'only of the same generation, which is then derived again',
  'identity/authenticate.ts db.update(sessions)': 'now, where a minute has passed',
  'database/keys/key_check.ts db.insert(instance)': 'writes only where no row exists',
  'database/notify.ts sql.notify': 'no decision depends on a notice',
  'database/prepare.ts db.update(instance)': 'writes only where the column is empty',
  'database/limits/shared_backoff.ts with counted as (insert into failed_attempts':
    'counts one failure more: refuses sooner',
  'database/limits/shared_backoff.ts update failed_attempts': 'is made in a transaction below',
  'database/limits/shared_backoff.ts delete from failed_attempts':
    'what is old then, or over the bound',
  'database/limits/shared_buckets.ts with n as materialized (select ? as now), drawn as (insert into ? as b':
    'takes from what is there then: refuses sooner',
  'database/limits/shared_buckets.ts delete from ? where':
    'what says nothing then, or is over the bound',
  'database/limits/sharers.ts with said as (insert into live_processes':
    'a process counts for 15 seconds more: refuses sooner',
  'database/limits/sharers.ts update live_processes': 'the last that a process says',
  'database/limits/sharers.ts delete from live_processes': 'what is old then',
  'database/limits/token_spending.ts with n as materialized (select ? as now), held as materialized':
    'is made in a transaction above',
  'database/limits/token_spending.ts insert into token_days': 'is made in a transaction above',
  'operator/rekey_outer/reseal.ts with changes as materialized': 'is made in a transaction below',
  'operator/backup/schedule.ts update instance set backup_minute': 'only forwards',
}

const WRITE = /\b(insert into|update (\?|\w+) (\w+ )?set\b|delete from|truncate |vacuum (\(|\w+_))/i
const tables = Object.keys(schema)
const root = join(import.meta.dir, '../../src')
/** Files that do not use PostgreSQL. */
const ELSEWHERE =
  /^(dev|cli|client|console|proxy)\/|^database\/embedded\/|^access\/signed\/seen_states\.ts$/

/** Statements that write, and are not called on a `tx`. */
function writesIn(text: string): string[] {
  const found: string[] = []
  for (const [, receiver = '', verb = '', table = ''] of text.matchAll(
    /([\w#]+)\s*\.(insert|update|delete)\(\s*(\w+)\s*\)/g,
  ))
    if (receiver !== 'tx' && (tables.includes(table) || table === 'table'))
      found.push(`${receiver.replace('#', '')}.${verb}(${table})`)
  const flat = withoutValues(text)
  for (const { 0: literal, index } of flat.matchAll(/`[^`]*`|(?<!\w)'[^'\n]*'/g)) {
    if (!WRITE.test(literal)) continue
    const before = flat.slice(0, index)
    if (/\b(tx|inside)(\.(execute|unsafe)(<[^()]*>)?\( ?(sql)?)?$/.test(before)) continue
    found.push(literal.slice(1, -1).replaceAll('( ', '(').trim())
  }
  if (/\bsql\s*\.notify\(/.test(text)) found.push('sql.notify')
  return found
}

/** `?` for each interpolation, which may contain texts. */
function withoutValues(text: string): string {
  const simple = text.replaceAll(/\$\{[^{}`]*\}/g, '?').replaceAll(/\s+/g, ' ')
  return simple.replaceAll(/\$\{[^{}`]*(`[^`]*`[^{}`]*)+\}/g, '?')
}

test('each statement that writes outside a transaction may arrive late', () => {
  const found = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !ELSEWHERE.test(path))
    .flatMap((path) =>
      writesIn(readFileSync(join(root, path), 'utf8')).map((write) => `${path} ${write}`),
    )
  const reasons = Object.keys(REASONS)
  expect(found.filter((write) => !reasons.some((known) => write.startsWith(known)))).toEqual([])
  expect(reasons.filter((known) => !found.some((write) => write.startsWith(known)))).toEqual([])
})
