/**
 * How much each secret, agent and host was used lately. A statement for each day, so that an embedded database serves
 * calls between two of them.
 */
import { sql } from 'drizzle-orm'
import type { Grant } from '../../core/grant.ts'
import type { Reading } from '../../database/open.ts'

const isRequest = sql`is_request(source, action)`

const HOUR_MS = 3_600_000
const HOURS = 24
const DAY_MS = HOURS * HOUR_MS
/** Records that are counted, the newest. */
const MAX_READ = 100_000
/** Kinds of requests of one day: each has a secret, an agent and a host. */
const MAX_KINDS = 10_000
/** Entries of a list, the last used first. */
const MAX_ENTRIES = 1_000

type Kind = {
  project_id: string | null
  environment: string | null
  credentials: string | null
  registration_id: string | null
  agent_id: string
  host: string | null
  calls: number
  blocked: number
  last_at: string
}

export async function usageOf(
  db: Reading,
  { workspaceId }: Grant<'audit.read'>,
  { days, now }: { days: number; now: number },
) {
  const today = Math.floor(now / DAY_MS) * DAY_MS
  const starts = Array.from({ length: days }, (_, at) => today - (days - 1 - at) * DAY_MS)
  const lists = { secrets: new Uses(days), agents: new Uses(days), hosts: new Uses(days) }
  let left = MAX_READ
  let isWhole = true
  for (let day = days - 1; day >= 0 && left > 0; day -= 1) {
    const kinds = await selectKinds(db, workspaceId, starts[day] ?? today, left)
    isWhole &&= kinds.length < MAX_KINDS
    for (const kind of kinds) {
      left -= kind.calls
      addKind(lists, kind, day)
    }
  }
  const all = Object.values(lists)
  return {
    hours: await selectHours(db, workspaceId, now),
    days: starts.map((start) => new Date(start).toISOString().slice(0, 10)),
    secrets: lists.secrets.listPresent(({ project_id, environment, name, agent_id }) => ({
      ...{ project_id, environment, credential_ref: name, last_used_by: agent_id },
    })),
    agents: lists.agents.listPresent(({ registration_id, name }) => ({
      registration_id,
      agent_id: name,
    })),
    hosts: lists.hosts.listPresent(({ name }) => ({ host: name })),
    is_whole: isWhole && left > 0 && all.every(({ size }) => size <= MAX_ENTRIES),
  }
}

async function selectKinds(db: Reading, workspaceId: string, start: number, most: number) {
  const [from, to] = [new Date(start).toISOString(), new Date(start + DAY_MS).toISOString()]
  return db.execute<Kind>(sql`
    select project_id, environment, credential_ref as credentials, registration_id, agent_id, host,
      count(*)::int as calls, (count(*) filter (where decision = 'blocked'))::int as blocked,
      to_char(max(timestamp) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as last_at
    from (
      select project_id, environment, credential_ref, registration_id, agent_id, decision, timestamp,
        coalesce(split_part(target_url, '/', 3), target_domain) as host
      from audit_logs where workspace_id = ${workspaceId} and ${isRequest}
        and timestamp >= ${from}::timestamptz and timestamp < ${to}::timestamptz
      order by timestamp desc limit ${most}) as newest
    group by 1, 2, 3, 4, 5, 6 limit ${MAX_KINDS}`)
}

type Hour = { at: string; allowed: number; blocked: number; errors: number }

async function selectHours(db: Reading, workspaceId: string, now: number) {
  const first = (Math.floor(now / HOUR_MS) - (HOURS - 1)) * HOUR_MS
  const rows = await db.execute<Hour>(sql`
    select to_char(hour at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at,
      (count(*) filter (where decision = 'allowed'))::int as allowed,
      (count(*) filter (where decision = 'blocked'))::int as blocked,
      (count(*) filter (where decision = 'error'))::int as errors
    from (
      select date_trunc('hour', timestamp, 'UTC') as hour, decision
      from audit_logs where workspace_id = ${workspaceId} and ${isRequest}
        and timestamp >= ${new Date(first).toISOString()}::timestamptz
      order by timestamp desc limit ${MAX_READ}) as newest
    group by hour`)
  const counted = new Map(rows.map((row) => [row.at, row]))
  return Array.from({ length: HOURS }, (_, n) => {
    const at = new Date(first + n * HOUR_MS)
    const { allowed = 0, blocked = 0, errors = 0 } = counted.get(at.toISOString()) ?? {}
    return { at, allowed, blocked, errors }
  })
}

type Lists = Record<'secrets' | 'agents' | 'hosts', Uses>

function addKind({ secrets, agents, hosts }: Lists, kind: Kind, day: number): void {
  const { project_id, environment, credentials, registration_id, agent_id, host } = kind
  for (const name of new Set(credentials?.split(','))) {
    secrets.add(JSON.stringify([project_id, environment, name]), { ...kind, name }, day)
  }
  agents.add(registration_id ?? agent_id, { ...kind, name: agent_id }, day)
  // `https:` leaves out 443.
  const name = host && URL.parse(`https://${host}`)?.host
  if (name) hosts.add(name, { ...kind, name }, day)
}

type Named = Kind & { name: string }
type Use = { newest: Named; calls: number[]; blocked: number[] }

class Uses {
  readonly #days: number
  readonly #uses = new Map<string, Use>()

  constructor(days: number) {
    this.#days = days
  }

  get size(): number {
    return this.#uses.size
  }

  add(key: string, kind: Named, day: number): void {
    const createZeros = () => Array<number>(this.#days).fill(0)
    const use = this.#uses.get(key) ?? {
      newest: kind,
      calls: createZeros(),
      blocked: createZeros(),
    }
    this.#uses.set(key, use)
    if (kind.last_at > use.newest.last_at) use.newest = kind
    use.calls[day] = (use.calls[day] ?? 0) + kind.calls
    use.blocked[day] = (use.blocked[day] ?? 0) + kind.blocked
  }

  /** The last used first. */
  listPresent<T>(present: (newest: Named) => T) {
    const newestFirst = [...this.#uses.values()].sort((one, other) =>
      one.newest.last_at < other.newest.last_at ? 1 : -1,
    )
    return newestFirst.slice(0, MAX_ENTRIES).map(({ newest, calls, blocked }) => ({
      ...present(newest),
      ...{ calls, blocked, last_used_at: new Date(newest.last_at) },
    }))
  }
}
