/**
 * The journal: what tokens were let do, on disk before it is done. One row for each group commit, written by
 * one statement that also proves, for every entry of the group, that its token is live by the database's
 * clock, and that the decision was made under the workspace's current policy version. A row goes when the
 * last of its records is in `audit_logs` (records.ts).
 */
import type postgres from 'postgres'
import type { Entry } from './entry.ts'

/** One row, with those of its entries that were live. */
export type Group = { id: string; entries: readonly Entry[] }

/** Of the encoding: an array of the version, and for each entry the number of its proof and these fields. */
const VERSION = 1
const FIELDS = [
  'id',
  'timestamp',
  'workspace_id',
  'policy_version',
  'token_id',
  'registration_id',
  'agent_id',
  'identity_level',
  'project_id',
  'environment',
  'method',
  'target_url',
  'target_path',
  'target_domain',
  'credential_ref',
  'injection_style',
  'action',
  'decision',
  'reason',
  'status_code',
  'duration_ms',
  'redacted',
] as const satisfies readonly (keyof Entry)[]

/** A text and not a template: the driver would put it together anew each time. */
const INSERT = `with live as (
    select string_agg(p.number::text, ' ') as numbers
    from unnest($2::text::uuid[], $3::text::uuid[], $4::text::bigint[]) with ordinality
      as p(token_id, workspace_id, policy_version, number)
    join tokens t on t.id = p.token_id and t.revoked_at is null
      and (t.expires_at is null or t.expires_at > clock_timestamp())
    join workspaces w on w.id = p.workspace_id and w.policy_version = p.policy_version
  ), stored as (
    insert into audit_journal (id, live, intents)
    select $1::uuid, numbers, $5 from live where numbers is not null
  )
  select numbers from live`

const SELECT = `select id, live, intents from audit_journal
  where $1::float8 is null or recorded_at < now() - make_interval(secs => $1::float8)`

/** Stores a group. Entries whose token is not live, or whose policy is old, are not in what it returns. */
export async function writeGroup(
  sql: postgres.Sql | postgres.TransactionSql,
  id: string,
  entries: readonly Entry[],
): Promise<Group> {
  const proofs = new Map<string, { number: number; entry: Entry }>()
  const numbers = entries.map((entry) => {
    const key = `${entry.token_id} ${entry.workspace_id} ${entry.policy_version}`
    const known = proofs.get(key)
    if (known) return known.number
    proofs.set(key, { number: proofs.size + 1, entry })
    return proofs.size
  })
  const asked = [...proofs.values()].map(({ entry }) => entry)
  const parameters = [
    id,
    `{${asked.map(({ token_id }) => token_id).join()}}`,
    `{${asked.map(({ workspace_id }) => workspace_id).join()}}`,
    `{${asked.map(({ policy_version }) => policy_version).join()}}`,
    encode(entries, numbers),
  ]
  const [row] = await sql.unsafe<{ numbers: string | null }[]>(INSERT, parameters, {
    prepare: true,
  })
  const live = liveAmong(row?.numbers ?? null)
  return { id, entries: entries.filter((_, index) => live.has(numbers[index] ?? 0)) }
}

/** What is in the journal for longer than so many seconds; without them, all of it. */
export async function readGroups(sql: postgres.Sql, seconds: number | null): Promise<Group[]> {
  const rows = await sql.unsafe<{ id: string; live: string; intents: string }[]>(SELECT, [seconds])
  return rows.map(({ id, live, intents }) => ({ id, entries: decode(intents, liveAmong(live)) }))
}

function liveAmong(numbers: string | null): Set<number> {
  return new Set(numbers?.split(' ').map(Number))
}

function encode(entries: readonly Entry[], numbers: readonly number[]): string {
  return JSON.stringify([
    VERSION,
    ...entries.map((entry, index) => [numbers[index], ...FIELDS.map((field) => entry[field])]),
  ])
}

function decode(text: string, live: ReadonlySet<number>): Entry[] {
  const [version, ...intents] = JSON.parse(text) as [number, ...[number, ...unknown[]][]]
  if (version !== VERSION)
    throw new Error(`the journal was written by another version (${version})`)
  return intents
    .filter(([number]) => live.has(number))
    .map(([, ...values]) => {
      const entry = Object.fromEntries(
        FIELDS.map((field, index) => [field, values[index]]),
      ) as Entry
      return { ...entry, timestamp: new Date(entry.timestamp) }
    })
}
