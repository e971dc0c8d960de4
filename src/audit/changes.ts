/**
 * Records what people changed and viewed: a change in its own transaction, so that both happen or neither; a view
 * before its response. A row of `audit_changes` is cheap. `settle` moves many together to `audit_logs`, whose indexes
 * and counts are the main cost of a record. Any control plane moves all rows, so none is lost with its process.
 */
import { sql } from 'drizzle-orm'
import type postgres from 'postgres'
import { Grouped } from '../core/async/grouped.ts'
import { endsWithin } from '../core/async/timeout.ts'
import type { PendingTimer, Timers } from '../core/async/timers.ts'
import { describeError, type Log } from '../core/log.ts'
import type { Database, Reading } from '../database/open.ts'
import { prepareOnce } from '../database/prepared.ts'
import { auditChanges, auditLogs } from '../database/schema/index.ts'
import type { Actor, Change, StoreDenial } from '../http/recorder.ts'
import { isInBucket, termOf } from './terms.ts'

/** In the order of the table's columns. */
const insertRows = prepareOnce((db) =>
  db
    .insert(auditChanges)
    .select(
      sql`select * from json_to_recordset(${sql.placeholder('rows')}::text::json) as r(id uuid, workspace_id uuid,
        timestamp timestamptz, agent_id text, registration_id uuid, user_id uuid, project_id uuid, environment text,
        credential_ref text, action text, resource jsonb)`,
    )
    .prepare('changes'),
)

/** Rows of one statement. Two processes take them in one order, so that neither waits for the other without end. */
const MOVED = 1_000
const MOVE = `with moved as (
    delete from audit_changes where id = any (array(
      select id from audit_changes order by id limit ${MOVED} for update)) returning *)
  insert into audit_logs (source, identity_level, decision, id, workspace_id, timestamp, agent_id, registration_id,
    user_id, project_id, environment, credential_ref, action, resource)
  select 'control_plane', 'user', 'allowed', id, workspace_id, timestamp, agent_id, registration_id, user_id, project_id,
    environment, credential_ref, action, resource from moved order by id`

/** Milliseconds between moves of this process's rows, and between checks for rows that other processes left. */
const INTERVAL_MS = 250
const LOOK_MS = 5_000
/** Moved rows after which the table is vacuumed. */
const VACUUM_AFTER_ROWS = 20_000
/** Reads whose records share one statement. */
const SHOWN_AT_ONCE = 64
/** Moves after the last record, because its transaction commits later than it is stored. */
const MOVES_AFTER = 4

type Parts = { db: Database; sql: postgres.Sql; log: Log; timers: Timers }

export class ChangeRecords {
  readonly #db: Database
  readonly #sql: postgres.Sql
  readonly #log: Log
  readonly #timers: readonly PendingTimer[]
  readonly #shown: Grouped<Row[], void>
  #movesLeft = MOVES_AFTER
  #current: Promise<void> | undefined
  #next: Promise<void> | undefined
  #moved = 0

  /** Without `isMoving`, another process moves the rows that this one stores. */
  constructor({ db, sql, log, timers }: Parts, isMoving = true) {
    this.#db = db
    this.#sql = sql
    this.#log = log
    const storeAll = async (shown: readonly Row[][]) => {
      await insertRows(db).execute({ rows: JSON.stringify(shown.flat()) })
      return []
    }
    this.#shown = new Grouped(storeAll, { size: SHOWN_AT_ONCE, width: 2 })
    this.#timers = isMoving
      ? [
          timers.setRepeating(INTERVAL_MS, () => void this.#tick()),
          timers.setRepeating(LOOK_MS, () => {
            this.#movesLeft = Math.max(1, this.#movesLeft)
          }),
        ]
      : []
  }

  /** Stores changes in their transaction. Without one, stores views, together with other requests. */
  async store(tx: Reading, actor: Actor, changes: readonly Change[]): Promise<void> {
    const rows = changes.map((change) => rowOf(actor, change))
    if (tx === this.#db) await this.#shown.run(rows)
    else await insertRows(tx).execute({ rows: JSON.stringify(rows) })
    this.#movesLeft = MOVES_AFTER
  }

  /** Moves all rows that were committed before the call. Failed moves are logged and retried. */
  async settle(): Promise<void> {
    if (this.#timers.length === 0) return
    if (!this.#current) return this.#begin()
    this.#next ??= this.#current.then(() => {
      this.#next = undefined
      return this.settle()
    })
    return this.#next
  }

  /** Moves the remaining rows, for at most `timeoutMs` milliseconds. */
  async close(timeoutMs: number): Promise<void> {
    for (const timer of this.#timers) timer.cancel()
    await endsWithin(timeoutMs, this.settle())
  }

  async #tick(): Promise<void> {
    if (this.#movesLeft > 0 && !this.#current) await this.#begin()
    if (this.#moved < VACUUM_AFTER_ROWS) return
    this.#moved = 0
    try {
      await this.#sql.unsafe('vacuum (skip_locked, truncate false) audit_changes')
    } catch (error) {
      this.#log.warning('audit_changes could not be vacuumed', describeError(error))
    }
  }

  #begin(): Promise<void> {
    this.#movesLeft = Math.max(0, this.#movesLeft - 1)
    this.#current = this.#move().finally(() => {
      this.#current = undefined
    })
    return this.#current
  }

  async #move(): Promise<void> {
    try {
      let count: number
      do {
        ;({ count } = await this.#sql.unsafe(MOVE, [], { prepare: true }))
        this.#moved += count
      } while (count === MOVED)
    } catch (error) {
      this.#movesLeft = MOVES_AFTER
      this.#log.warning('audit records of changes are delayed', describeError(error))
    }
  }
}

type Row = ReturnType<typeof rowOf>

/** Resources that are named by one secret, or by several with commas between them. A filter by secret finds them. */
const NAMING_SECRETS: readonly string[] = ['secret', 'approval']

/** Under the names of the columns. */
function rowOf(actor: Actor, { action, resource, registrationId, projectId, environment }: Change) {
  return {
    id: Bun.randomUUIDv7(),
    workspace_id: actor.workspaceId,
    timestamp: new Date(),
    agent_id: actor.email,
    registration_id: registrationId,
    user_id: actor.userId,
    project_id: projectId,
    environment,
    credential_ref: NAMING_SECRETS.includes(resource.type) ? resource.name : null,
    action,
    resource,
  }
}
/** First half of the key of the lock; the second is a hash of person and action. */
const DENIALS = 6_021_023

/**
 * Records refusals by role, so that authorised members see who probes. At most one a minute for a person and an action,
 * so that refusals cannot fill the trail.
 */
export const storeDenial: StoreDenial = async (db: Database, actor, action) => {
  const { workspaceId, userId, email, projectId } = actor
  await db.transaction(async (tx) => {
    const about = `${workspaceId} ${userId} ${action}`
    await tx.execute(sql`select pg_advisory_xact_lock(${DENIALS}::int, hashtext(${about}))`)
    const recent = await tx.execute(sql`
      select 1 from audit_terms join audit_logs on ${isInBucket}
      where term = ${termOf(workspaceId, 'action', 'access.denied')} and bucket > now() - interval '61 seconds'
        and workspace_id = ${workspaceId} and action = 'access.denied'
        and timestamp > now() - interval '1 minute'
        and user_id = ${userId} and resource->>'name' = ${action} limit 1`)
    if (recent.length > 0) return
    await tx.insert(auditLogs).values({
      workspaceId,
      timestamp: new Date(),
      source: 'control_plane',
      identityLevel: 'user',
      agentId: email,
      userId,
      projectId: projectId ?? null,
      decision: 'blocked',
      reason: 'forbidden',
      statusCode: 403,
      action: 'access.denied',
      resource: { type: 'endpoint', id: null, name: action },
    })
  })
}
