/** When tokens were last used, to ten seconds: a statement only for those of which nothing was noted as long. */
import type postgres from 'postgres'

const INTERVAL_MS = 10_000
/** Tokens remembered at most; beyond that some are noted more often, which changes nothing. */
const MAX_NOTED = 10_000

const UPDATE = `update tokens t set last_used_at = u.at
  from json_to_recordset($1::text::json) as u(token_id uuid, at timestamptz)
  where t.id = u.token_id and (t.last_used_at is null or t.last_used_at < u.at)`

export class LastUse {
  readonly #sql: postgres.Sql
  readonly #noted = new Map<string, number>()
  #due: { token_id: string; at: Date }[] = []

  constructor(sql: postgres.Sql) {
    this.#sql = sql
  }

  note(tokenId: string, at: Date): void {
    const time = at.getTime()
    if (time - (this.#noted.get(tokenId) ?? 0) < INTERVAL_MS) return
    if (this.#noted.size >= MAX_NOTED) this.#noted.clear()
    this.#noted.set(tokenId, time)
    this.#due.push({ token_id: tokenId, at })
  }

  /** What fails is noted again with the next use after ten seconds. */
  async write(): Promise<void> {
    const due = this.#due.splice(0)
    if (due.length > 0) await this.#sql.unsafe(UPDATE, [JSON.stringify(due)], { prepare: true })
  }
}
