/**
 * The durable trail of what agents did. An intent is committed before a credential leaves; all
 * requests that wait at the same moment share one commit. The same statement proves that the token is
 * still live, by the database's clock, and that the decision was made under the workspace's current
 * policy version: whatever was cached, a revoke holds everywhere from its acknowledgement on.
 */
import type postgres from 'postgres'
import { Fault } from '../kernel/fault.ts'
import { describeError, type Log } from '../kernel/log.ts'

/** One decision about an outbound request or a delivery, complete or still without its outcome. */
export type Entry = {
  id: string
  workspace_id: string
  /** The version under which the decision was made. */
  policy_version: number
  token_id: string
  registration_id: string | null
  agent_id: string
  identity_level: 'agent' | 'workload'
  timestamp: Date
  project_id: string | null
  environment: string | null
  method: string | null
  target_url: string | null
  target_path: string | null
  target_domain: string | null
  credential_ref: string | null
  injection_style: string | null
  decision: 'allowed' | 'blocked' | 'error'
  reason: string | null
  status_code: number | null
  duration_ms: number | null
  redacted: boolean | null
}

export type Outcome = {
  id: string
  decision: Entry['decision']
  reason: string | null
  status_code: number
  duration_ms: number
  redacted: boolean
}

/** `stale`: nothing was stored, because the token or the policy is no longer what it was. */
export type Verdict = 'recorded' | 'stale'

type Waiting = {
  entry: Entry
  settle: (verdict: Verdict) => void
  refuse: (fault: Fault) => void
  expired: boolean
}

/** Entries in one statement, and entries that may wait before new ones are refused. */
const GROUP_SIZE = 500
const MAX_WAITING = 10_000
/** Milliseconds a request waits for its record, and a statement for the database. */
const PATIENCE_MS = 5_000
/** Milliseconds between writes of outcomes. */
const OUTCOME_INTERVAL_MS = 250

export class AuditTrail {
  readonly #sql: postgres.Sql
  readonly #log: Log
  #waiting: Waiting[] = []
  #writing = false
  #outcomes: Outcome[] = []
  #flushing: Promise<void> | undefined
  readonly #usedTokens = new Map<string, number>()
  readonly #timer: Timer

  constructor(sql: postgres.Sql, log: Log) {
    this.#sql = sql
    this.#log = log
    this.#timer = setInterval(() => void this.flush(), OUTCOME_INTERVAL_MS)
  }

  /**
   * Makes an entry durable.
   *
   * @throws Fault `audit_unavailable` when the database does not confirm in time; nothing may be sent
   */
  record(entry: Entry): Promise<Verdict> {
    if (this.#waiting.length >= MAX_WAITING) return Promise.reject(unavailable())
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { entry, expired: false, settle: resolve, refuse: reject }
      const timer = setTimeout(() => this.#expire(waiting), PATIENCE_MS)
      waiting.settle = (verdict) => {
        clearTimeout(timer)
        if (waiting.expired) this.#disown(waiting.entry, verdict)
        else resolve(verdict)
      }
      waiting.refuse = (fault) => {
        clearTimeout(timer)
        reject(fault)
      }
      this.#waiting.push(waiting)
      void this.#write()
    })
  }

  /** Adds the outcome to a recorded entry, within a second. */
  conclude(outcome: Outcome): void {
    this.#outcomes.push(outcome)
  }

  /** Writes the outcomes that wait. One write at a time; what fails is tried again. */
  flush(): Promise<void> {
    this.#flushing ??= this.#writeOutcomes().finally(() => {
      this.#flushing = undefined
    })
    return this.#flushing
  }

  /** Writes everything that is left, at most `patienceMs` milliseconds long. */
  async close(patienceMs: number): Promise<void> {
    clearInterval(this.#timer)
    const deadline = Date.now() + patienceMs
    while ((this.#outcomes.length > 0 || this.#writing) && Date.now() < deadline) {
      await this.flush()
      if (this.#outcomes.length > 0 || this.#writing) await Bun.sleep(20)
    }
  }

  async #write(): Promise<void> {
    if (this.#writing) return
    this.#writing = true
    while (this.#waiting.length > 0) {
      const group = this.#waiting.splice(0, GROUP_SIZE).filter(({ expired }) => !expired)
      if (group.length > 0) await this.#commit(group)
    }
    this.#writing = false
  }

  /** Waits for one group, but not for ever: a stalled statement must not hold up the next. */
  async #commit(group: readonly Waiting[]): Promise<void> {
    const stored = insertEntries(
      this.#sql,
      group.map(({ entry }) => entry),
    ).then(
      (ids) => {
        for (const { entry, settle } of group) settle(ids.has(entry.id) ? 'recorded' : 'stale')
      },
      (error) => {
        this.#log.error('audit could not be written', {
          entries: group.length,
          ...describeError(error),
        })
        for (const { refuse } of group) refuse(unavailable(error))
      },
    )
    await atMost(stored, PATIENCE_MS)
    for (const { entry } of group) this.#usedTokens.set(entry.token_id, entry.timestamp.getTime())
  }

  #expire(waiting: Waiting): void {
    waiting.expired = true
    waiting.refuse(unavailable())
  }

  /** An entry that was stored after its request had been refused: nothing was sent for it. */
  #disown(entry: Entry, verdict: Verdict): void {
    if (verdict === 'stale') return
    const { id } = entry
    this.conclude({
      id,
      decision: 'error',
      reason: 'audit_unavailable',
      status_code: 503,
      duration_ms: PATIENCE_MS,
      redacted: false,
    })
  }

  async #writeOutcomes(): Promise<void> {
    const outcomes = this.#outcomes.splice(0)
    const used = [...this.#usedTokens].map(([token_id, at]) => ({ token_id, at: new Date(at) }))
    this.#usedTokens.clear()
    try {
      if (outcomes.length > 0) await updateOutcomes(this.#sql, outcomes)
      if (used.length > 0) await stampTokens(this.#sql, used)
    } catch (error) {
      this.#outcomes.unshift(...outcomes.slice(0, MAX_WAITING))
      this.#log.warning('audit outcomes wait', {
        outcomes: outcomes.length,
        ...describeError(error),
      })
    }
  }
}

/** Waits for the work, but no longer than `ms` milliseconds. */
async function atMost(work: Promise<void>, ms: number): Promise<void> {
  const late = Promise.withResolvers<void>()
  const timer = setTimeout(late.resolve, ms)
  await Promise.race([work, late.promise])
  clearTimeout(timer)
}

function unavailable(cause?: unknown): Fault {
  return new Fault('audit_unavailable', { cause })
}

async function insertEntries(sql: postgres.Sql, entries: readonly Entry[]): Promise<Set<string>> {
  const stored = await sql<{ id: string }[]>`
    insert into audit_logs (id, workspace_id, timestamp, source, identity_level, agent_id, registration_id,
      token_id, project_id, environment, method, target_url, target_path, target_domain, credential_ref,
      injection_style, decision, reason, status_code, duration_ms, redacted)
    select r.id, r.workspace_id, r.timestamp, 'resolver', r.identity_level, r.agent_id, r.registration_id,
      r.token_id, r.project_id, r.environment, r.method, r.target_url, r.target_path, r.target_domain,
      r.credential_ref, r.injection_style, r.decision, r.reason, r.status_code, r.duration_ms, r.redacted
    from json_to_recordset(${JSON.stringify(entries)}::text::json) as r(id uuid, workspace_id uuid,
      policy_version bigint, timestamp timestamptz, identity_level text, agent_id text,
      registration_id uuid, token_id uuid, project_id uuid, environment text, method text,
      target_url text, target_path text, target_domain text, credential_ref text,
      injection_style text, decision text, reason text, status_code integer, duration_ms integer,
      redacted boolean)
    join tokens t on t.id = r.token_id and t.revoked_at is null
      and (t.expires_at is null or t.expires_at > clock_timestamp())
    join workspaces w on w.id = r.workspace_id and w.policy_version = r.policy_version
    returning id`
  return new Set(stored.map(({ id }) => id))
}

async function updateOutcomes(sql: postgres.Sql, outcomes: readonly Outcome[]): Promise<void> {
  await sql`
    update audit_logs a set decision = o.decision, reason = o.reason, status_code = o.status_code,
      duration_ms = o.duration_ms, redacted = o.redacted
    from json_to_recordset(${JSON.stringify(outcomes)}::text::json) as o(id uuid, decision text, reason text,
      status_code integer, duration_ms integer, redacted boolean)
    where a.id = o.id`
}

async function stampTokens(
  sql: postgres.Sql,
  used: readonly { token_id: string; at: Date }[],
): Promise<void> {
  await sql`
    update tokens t set last_used_at = u.at
    from json_to_recordset(${JSON.stringify(used)}::text::json) as u(token_id uuid, at timestamptz)
    where t.id = u.token_id and (t.last_used_at is null or t.last_used_at < u.at - interval '10 seconds')`
}
