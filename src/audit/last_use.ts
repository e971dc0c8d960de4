/**
 * When tokens were last used, to ten seconds: a statement only for tokens without a note in that time. They have their
 * own table: a database user who can write it can lock its rows, and a lock in `tokens` would block a revoke.
 */
import { sql } from 'drizzle-orm'
import type postgres from 'postgres'
import type { Database } from '../database/open.ts'

const INTERVAL_MS = 10_000
/** Maximum remembered tokens. Beyond that, some are written more often, which is harmless. */
const MAX_NOTED = 10_000

/** Always in the same order, so that processes cannot deadlock. */
const UPSERT = `insert into token_uses as known (token_id, last_used_at)
  select token_id, at from json_to_recordset($1::text::json) as u(token_id uuid, at timestamptz) order by token_id
  on conflict (token_id) do update set last_used_at = excluded.last_used_at
  where known.last_used_at < excluded.last_used_at`

export class LastUse {
  readonly #sql: postgres.Sql
  readonly #noted = new Map<string, number>()
  readonly #due = new Map<string, Date>()
  #current: Promise<void> | undefined

  constructor(sql: postgres.Sql) {
    this.#sql = sql
  }

  note(tokenId: string, at: Date): void {
    const time = at.getTime()
    if (time - (this.#noted.get(tokenId) ?? 0) < INTERVAL_MS) return
    if (this.#noted.size >= MAX_NOTED) this.#noted.clear()
    this.#noted.set(tokenId, time)
    this.#due.set(tokenId, at)
  }

  /**
   * Writes due uses. A failed use is noted again with the token's next use after ten seconds. Only one statement runs
   * at a time: if rows stay locked, only one connection waits.
   */
  async write(): Promise<void> {
    if (!this.#current && this.#due.size > 0) this.#current = this.#upsert()
    await this.#current
  }

  /** Writes all uses noted up to this moment. */
  async flush(): Promise<void> {
    await this.#current
    await this.write()
  }

  async #upsert(): Promise<void> {
    const due = [...this.#due].map(([token_id, at]) => ({ token_id, at }))
    this.#due.clear()
    try {
      await this.#sql.unsafe(UPSERT, [JSON.stringify(due)], { prepare: true })
    } finally {
      this.#current = undefined
    }
  }
}

/** Forgets the uses of deleted tokens. Locked rows stay until the next time. */
export async function sweepUses(db: Database): Promise<void> {
  await db.execute(sql`delete from token_uses where token_id = any (array(
    select token_id from token_uses u where not exists (select from tokens t where t.id = u.token_id)
    for update skip locked))`)
}
