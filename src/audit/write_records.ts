/**
 * Writes a batch of records in one statement, with a parameter for each column. Arrays cost the database half as much
 * as equal rows in JSON. Values that calls share are sent once.
 */
import type postgres from 'postgres'
import type { Entry, EntryConclusion } from './entry.ts'
import { intentText, type Row } from './journal.ts'

export type Unwritten = {
  entry: Entry
  conclusion: EntryConclusion
  /** The group that must be in the journal for it, where that is not known. */
  unconfirmed: string | null
}

type Value = string | number | boolean | null
type Column = { name: string; type: string; read: (record: Unwritten) => Value }

/** Columns that calls of one token often have in common. */
const SHARED: readonly Column[] = [
  column('workspace_id', 'uuid', ({ entry }) => entry.workspace_id),
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
]

const OWN: readonly Column[] = [
  column('id', 'uuid', ({ entry }) => entry.id),
  column('unfilled', 'jsonb', ({ entry: { unfilled } }) =>
    unfilled ? JSON.stringify(unfilled) : null,
  ),
  column('approval_id', 'uuid', ({ entry }) => entry.approval_id ?? null),
  column('decision', 'text', ({ conclusion }) => conclusion.decision),
  column('reason', 'text', ({ conclusion }) => conclusion.reason),
  column('refused_by', 'jsonb', ({ conclusion: { refused_by } }) =>
    refused_by ? JSON.stringify(refused_by) : null,
  ),
  column('status_code', 'integer', ({ conclusion }) => conclusion.status_code),
  column('duration_ms', 'integer', ({ conclusion }) => conclusion.duration_ms),
  column('redacted', 'boolean', ({ conclusion }) => conclusion.redacted),
]

const namesOf = (columns: readonly Column[]) => columns.map(({ name }) => name).join(', ')
const arraysFrom = (first: number, columns: readonly Column[]) =>
  columns.map(({ type }, index) => `$${first + index}::text::${type}[]`).join(', ')
const [shared, own] = [namesOf(SHARED), namesOf(OWN)]

/** Inserts records. One with an unconfirmed commit is inserted only if that commit succeeded. */
const WRITE = `with gone as (delete from audit_journal where id = any($1::text::uuid[]) returning 1)
  insert into audit_logs as a (source, timestamp, ${own}, ${shared})
  select 'resolver', timestamptz 'epoch' + at * interval '1 millisecond', ${own}, ${shared}
  from unnest($2::text::uuid[], $3::text::integer[], $4::text::bigint[], ${arraysFrom(5, OWN)})
    as r(unconfirmed, number, at, ${own})
  join unnest(${arraysFrom(5 + OWN.length, SHARED)}) with ordinality as s(${shared}, number) using (number)
  where (select count(*) from gone) >= 0 and (r.unconfirmed is null
    or exists (select 1 from audit_journal j where j.id = r.unconfirmed)
    or exists (select 1 from audit_logs l where l.id = r.id))
  on conflict (id) do update set decision = excluded.decision, reason = excluded.reason,
    refused_by = excluded.refused_by,
    status_code = excluded.status_code, duration_ms = excluded.duration_ms, redacted = excluded.redacted
    where a.source = 'resolver' and a.status_code is null and excluded.status_code is not null`

/** Stores the records, and takes the groups out of the journal. */
export async function writeRecords(
  sql: postgres.Sql,
  records: readonly Unwritten[],
  emptied: readonly string[],
): Promise<void> {
  const unconfirmed = records.map(({ unconfirmed }) => unconfirmed ?? 'null').join()
  const { distinct, numbers } = distinctOf(records)
  const parameters = [
    `{${emptied.join()}}`,
    `{${unconfirmed}}`,
    `{${numbers.join()}}`,
    `{${records.map(({ entry }) => entry.timestamp.getTime()).join()}}`,
    ...OWN.map((column) => arrayOf(records, column)),
    ...SHARED.map((column) => arrayOf(distinct, column)),
  ]
  await sql.unsafe(WRITE, parameters, { prepare: true })
}

/** A record without its outcome has its own ID there. One with an outcome is added without a rewrite. */
const REFUSE = `with gone as (delete from audit_journal where id = any($1::text::uuid[]) returning 1)
  insert into audit_refused (id, code, intent)
  select case when $5 then md5($2 || ' without outcome')::uuid else $2::uuid end, $3, $4
  where (select count(*) from gone) >= 0
  on conflict do nothing`

/** Stores an invalid record separately from the others, as its original intent. */
export async function storeRefused(
  sql: postgres.Sql,
  { entry, conclusion }: Unwritten,
  { code, emptied }: { code: string; emptied: readonly string[] },
): Promise<void> {
  const intent = intentText({ entry: { ...entry, ...conclusion }, proof: 1 })
  const isOpen = conclusion.status_code === null
  await sql.unsafe(REFUSE, [`{${emptied.join()}}`, entry.id, code, intent, isOpen])
}

/** invalid_json_text */
const UNREADABLE = '22032'

/** More than any that a process writes. */
const MAX_KEPT = 1_048_576

/** Moves an unreadable row out of the journal, unchanged. A very long row is truncated. */
export async function storeUnreadable(sql: postgres.Sql, { id, ...row }: Row): Promise<void> {
  const kept = JSON.stringify(row).slice(0, MAX_KEPT).toWellFormed()
  await sql.unsafe(REFUSE, [`{${id}}`, id, UNREADABLE, kept, false])
}

function column(name: keyof Entry, type: string, read: Column['read']): Column {
  return { name, type, read }
}

/** Returns the records that differ in shared columns, and for each record the number of its equal, counted from 1. */
function distinctOf(records: readonly Unwritten[]) {
  const distinct: Unwritten[] = []
  const latest = new Map<string, number>()
  const numbers = records.map((record) => {
    const number = latest.get(record.entry.token_id) ?? 0
    const known = distinct[number - 1]
    if (known && isAlike(known.entry, record.entry)) return number
    latest.set(record.entry.token_id, distinct.push(record))
    return distinct.length
  })
  return { distinct, numbers }
}

/** In all of `SHARED`; field by field, since a loop over the columns takes four times as long. */
function isAlike(one: Entry, other: Entry): boolean {
  return (
    one.workspace_id === other.workspace_id &&
    one.identity_level === other.identity_level &&
    one.agent_id === other.agent_id &&
    one.registration_id === other.registration_id &&
    one.token_id === other.token_id &&
    one.project_id === other.project_id &&
    one.environment === other.environment &&
    one.method === other.method &&
    one.target_url === other.target_url &&
    one.target_path === other.target_path &&
    one.target_domain === other.target_domain &&
    one.credential_ref === other.credential_ref &&
    one.injection_style === other.injection_style &&
    one.action === other.action
  )
}

/** Formats an array for PostgreSQL. Joins the values directly if none needs an escape, which takes half as long. */
function arrayOf(records: readonly Unwritten[], { type, read }: Column): string {
  const values = records.map(read)
  const write = type === 'text' || type === 'jsonb' ? quoteValue : String
  if (values.includes(null)) return `{${values.map(write).join()}}`
  if (write === String) return `{${values.join()}}`
  const isOrdinary = !/["\\]/.test(values.join(''))
  return isOrdinary ? `{"${values.join('","')}"}` : `{${values.map(write).join()}}`
}

function quoteValue(value: Value): string {
  return value === null ? 'null' : `"${String(value).replace(/["\\]/g, '\\$&')}"`
}
