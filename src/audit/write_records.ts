/**
 * The statement that writes a batch of records, a parameter for each column. Arrays cost the database half of
 * what the same rows cost as JSON.
 */
import type postgres from 'postgres'
import type { Conclusion, Entry } from './entry.ts'
import { textOf } from './journal.ts'

export type Unwritten = {
  entry: Entry
  conclusion: Conclusion
  /** The group that must be in the journal for it, where that is not known. */
  unconfirmed: string | null
}

type Value = string | number | boolean | null
type Column = { name: string; type: string; read: (record: Unwritten) => Value }

const COLUMNS: readonly Column[] = [
  column('id', 'uuid', ({ entry }) => entry.id),
  column('workspace_id', 'uuid', ({ entry }) => entry.workspace_id),
  column('timestamp', 'timestamptz', ({ entry }) => entry.timestamp.toISOString()),
  column('identity_level', 'text', ({ entry }) => entry.identity_level),
  column('agent_id', 'text', ({ entry }) => entry.agent_id),
  column('registration_id', 'uuid', ({ entry }) => entry.registration_id),
  column('token_id', 'uuid', ({ entry }) => entry.token_id),
  column('project_id', 'uuid', ({ entry }) => entry.project_id),
  column('environment', 'text', ({ entry }) => entry.environment),
  column('method', 'text', ({ entry }) => entry.method),
  column('target_url', 'text', ({ entry }) => entry.target_url),
  column('target_path', 'text', ({ entry }) => entry.target_path),
  column('target_domain', 'text', ({ entry }) => entry.target_domain),
  column('credential_ref', 'text', ({ entry }) => entry.credential_ref),
  column('injection_style', 'text', ({ entry }) => entry.injection_style),
  column('action', 'text', ({ entry }) => entry.action),
  column('decision', 'text', ({ conclusion }) => conclusion.decision),
  column('reason', 'text', ({ conclusion }) => conclusion.reason),
  column('status_code', 'integer', ({ conclusion }) => conclusion.status_code),
  column('duration_ms', 'integer', ({ conclusion }) => conclusion.duration_ms),
  column('redacted', 'boolean', ({ conclusion }) => conclusion.redacted),
]

const names = COLUMNS.map(({ name }) => name).join(', ')
const arrays = COLUMNS.map(({ type }, index) => `$${index + 3}::text::${type}[]`).join(', ')

/** What may not have been stored, because its commit was not confirmed, is written only if it was. */
const WRITE = `with gone as (delete from audit_journal where id = any($1::text::uuid[]) returning 1)
  insert into audit_logs as a (source, ${names})
  select 'resolver', ${names} from unnest($2::text::uuid[], ${arrays}) as r(unconfirmed, ${names})
  where (select count(*) from gone) >= 0 and (r.unconfirmed is null
    or exists (select 1 from audit_journal j where j.id = r.unconfirmed)
    or exists (select 1 from audit_logs l where l.id = r.id))
  on conflict (id) do update set decision = excluded.decision, reason = excluded.reason,
    status_code = excluded.status_code, duration_ms = excluded.duration_ms, redacted = excluded.redacted
    where a.status_code is null and excluded.status_code is not null`

/** Stores the records, and takes the groups out of the journal. */
export async function writeRecords(
  sql: postgres.Sql,
  records: readonly Unwritten[],
  emptied: readonly string[],
): Promise<void> {
  const unconfirmed = records.map(({ unconfirmed }) => unconfirmed ?? 'null').join()
  const columns = COLUMNS.map((column) => arrayOf(records, column))
  const parameters = [`{${emptied.join()}}`, `{${unconfirmed}}`, ...columns]
  await sql.unsafe(WRITE, parameters, { prepare: true })
}

const REFUSE = `with gone as (delete from audit_journal where id = any($1::text::uuid[]) returning 1)
  insert into audit_refused (id, code, intent)
  select $2::text::uuid, $3, $4 where (select count(*) from gone) >= 0
  on conflict (id) do update set intent = excluded.intent`

/** Keeps what cannot be a record out of the way of others, as the intent that it was. */
export async function storeRefused(
  sql: postgres.Sql,
  { entry, conclusion }: Unwritten,
  { code, emptied }: { code: string; emptied: readonly string[] },
): Promise<void> {
  const intent = textOf({ entry: { ...entry, ...conclusion }, proof: 1 })
  await sql.unsafe(REFUSE, [`{${emptied.join()}}`, entry.id, code, intent])
}

function column(name: keyof Entry, type: string, read: Column['read']): Column {
  return { name, type, read }
}

/** As PostgreSQL reads arrays. Joined at once where nothing needs care, which takes half as long. */
function arrayOf(records: readonly Unwritten[], { type, read }: Column): string {
  const values = records.map(read)
  const write = type === 'text' ? quoted : String
  if (values.includes(null)) return `{${values.map(write).join()}}`
  if (type !== 'text') return `{${values.join()}}`
  const isOrdinary = !/["\\]/.test(values.join(''))
  return isOrdinary ? `{"${values.join('","')}"}` : `{${values.map(write).join()}}`
}

function quoted(value: Value): string {
  return value === null ? 'null' : `"${String(value).replace(/["\\]/g, '\\$&')}"`
}
