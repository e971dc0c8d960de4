/**
 * A decision under a lock: where a workspace is written to without pause, every look at its policy would
 * be old by the time it is recorded. Reading, deciding and recording then share one transaction that
 * lets no writer of this workspace in between.
 */
import type postgres from 'postgres'
import { type Entry, insertEntries } from '../audit/statements.ts'
import type { OuterLayer } from '../platform/crypto/outer_layer.ts'
import type { Fault } from '../platform/fault.ts'
import { inTime } from '../platform/timeout.ts'
import { openReader } from './reader.ts'
import { StaleView, type View, ViewBook } from './snapshots.ts'
import type { LiveToken } from './tokens.ts'

/** Milliseconds for which writers are kept out; whoever looks up a slow name tries again after. */
const PATIENCE_MS = 2_000

/** What was decided, and how it stands in the audit. */
export type Settlement<T> = { result: T | Fault; entry: Entry }

export type Decide<T> = (view: View, views: ViewBook) => Promise<Settlement<T>>

/** `null` when the token is no longer live, or the time was too short; then nothing was stored. */
export type Pin = <T>(token: LiveToken, decide: Decide<T>) => Promise<Settlement<T> | null>

export function openPin(sql: postgres.Sql, outer: OuterLayer): Pin {
  return <T>(token: LiveToken, decide: Decide<T>) =>
    sql.begin(async (tx) => {
      await tx`select 1 from workspaces where id = ${token.workspaceId} for share`
      const views = new ViewBook(openReader(tx), outer)
      const decision = views.of(token.workspaceId).then((view) => decide(view, views))
      const settlement = await inTime(PATIENCE_MS, decision, () => new StaleView())
      const stored = await insertEntries(tx, [settlement.entry])
      return stored.has(settlement.entry.id) ? settlement : null
    }) as Promise<Settlement<T> | null>
}
