/**
 * The journal: actions that tokens were allowed, on disk before they happen. One row for each group commit, written by
 * one statement. It also proves, for every entry of the group, that its token is live by the database's clock, and that
 * the decision was made under the workspace's current policy version. A row is deleted when the last of its records is
 * in `audit_logs` (records.ts).
 */
import type postgres from 'postgres'
import type { Entry, Intent } from './entry.ts'
import { readIntents } from './stored_intents.ts'

/** One row; `isUnconfirmed` if its commit may have failed. */
export type JournalGroup = { id: string; intents: readonly Intent[]; isUnconfirmed?: boolean }

/** A string, because the driver would assemble a template again each time. */
const INSERT = `insert into audit_journal (id, live, intents)
  select $1::uuid, string_agg(p.number::text, ' '), $5
  from unnest($2::text::uuid[], $3::text::uuid[], $4::text::bigint[]) with ordinality
    as p(token_id, workspace_id, policy_version, number)
  join tokens t on t.id = p.token_id and t.revoked_at is null
    and (t.expires_at is null or t.expires_at > clock_timestamp())
  join workspaces w on w.id = p.workspace_id and w.policy_version = p.policy_version
  having count(*) > 0
  returning live`

/** The insert for a single proof, where lists would cost the database about as much as the insert. */
const INSERT_ONE = `insert into audit_journal (id, live, intents)
  select $1::uuid, '1', $5 from tokens t join workspaces w on w.id = $3::uuid and w.policy_version = $4::bigint
  where t.id = $2::uuid and t.revoked_at is null and (t.expires_at is null or t.expires_at > clock_timestamp())
  returning live`

const SELECT = `select id, live, intents from audit_journal
  where $1::float8 is null or recorded_at < now() - make_interval(secs => $1::float8)`

/** Names of an intent's columns in a row, in the order of `rowOf`. */
const NAMES = [
  'id',
  'workspace_id',
  'policy_version',
  'token_id',
  'registration_id',
  'agent_id',
  'identity_level',
  'timestamp',
  'project_id',
  'environment',
  'method',
  'target_url',
  'target_path',
  'target_domain',
  'credential_ref',
  'injection_style',
  'unfilled',
  'approval_id',
  'action',
  'decision',
  'reason',
  'refused_by',
  'status_code',
  'duration_ms',
  'redacted',
  'proof',
] satisfies (keyof Entry | 'proof')[]

/** Fields that a proof covers. */
const PROVED = ['token_id', 'workspace_id', 'policy_version'] as const

/** Groups entries: entries with the same token and version share a proof. */
export function groupOf(entries: readonly Entry[]): JournalGroup {
  const ofToken = new Map<string, Intent[]>()
  let proofs = 0
  const intents = entries.map((entry) => {
    const others = ofToken.get(entry.token_id)
    const known = others?.find((other) => isProvedAlike(other.entry, entry))
    if (known) return { entry, proof: known.proof }
    const intent = { entry, proof: ++proofs }
    if (others) others.push(intent)
    else ofToken.set(entry.token_id, [intent])
    return intent
  })
  return { id: Bun.randomUUIDv7(), intents }
}

function isProvedAlike(one: Entry, other: Entry): boolean {
  return one.policy_version === other.policy_version && one.workspace_id === other.workspace_id
}

/** Stores a group, and returns it with its intents that have a live token and a current policy. */
export async function writeGroup(
  sql: postgres.Sql | postgres.TransactionSql,
  { id, intents }: JournalGroup,
): Promise<JournalGroup> {
  const asked: Entry[] = []
  for (const { entry, proof } of intents) asked[proof - 1] = entry
  const text = JSON.stringify([NAMES, ...intents.map(rowOf)])
  const isOne = asked.length === 1
  const lists = PROVED.map((name) => asked.map((entry) => entry[name]).join())
  const parameters = [id, ...(isOne ? lists : lists.map((list) => `{${list}}`)), text]
  const statement = isOne ? INSERT_ONE : INSERT
  const [row] = await sql.unsafe<{ live: string }[]>(statement, parameters, { prepare: true })
  const live = row?.live.split(' ') ?? []
  // No number occurs twice, so equal counts mean that all are live.
  if (live.length === asked.length) return { id, intents }
  const numbers = new Set(live.map(Number))
  return { id, intents: intents.filter(({ proof }) => numbers.has(proof)) }
}

/** A row of the journal. */
export type Row = { id: string; live: string; intents: string }

/**
 * Reads groups that have been in the journal for more than `seconds`, or all groups without it. Passes each unreadable
 * row to `onUnreadable` and reads the others.
 */
export async function readGroups(
  sql: postgres.Sql,
  seconds: number | null,
  onUnreadable: (row: Row) => void = () => {},
): Promise<JournalGroup[]> {
  const rows = await sql.unsafe<Row[]>(SELECT, [seconds])
  return rows.flatMap((row) => {
    try {
      return [{ id: row.id, intents: readIntents(row.intents, row.live) }]
    } catch {
      onUnreadable(row)
      return []
    }
  })
}

/** Each field by name, and no date: objects, or one with methods, take several times as long. */
function rowOf({ entry, proof }: Intent): unknown[] {
  return [
    entry.id,
    entry.workspace_id,
    entry.policy_version,
    entry.token_id,
    entry.registration_id,
    entry.agent_id,
    entry.identity_level,
    entry.timestamp.getTime(),
    entry.project_id,
    entry.environment,
    entry.method,
    entry.target_url,
    entry.target_path,
    entry.target_domain,
    entry.credential_ref,
    entry.injection_style,
    entry.unfilled ?? null,
    entry.approval_id ?? null,
    entry.action,
    entry.decision,
    entry.reason,
    entry.refused_by ?? null,
    entry.status_code,
    entry.duration_ms,
    entry.redacted,
    proof,
  ]
}

/** A single intent. */
export function intentText({ entry, proof }: Intent): string {
  return JSON.stringify({ ...entry, proof })
}
