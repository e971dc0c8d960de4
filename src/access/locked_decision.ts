/**
 * A decision under a lock, for a workspace with continuous writes, where every read of its policy would be outdated
 * when it is recorded. Reading, deciding and recording then share one transaction that blocks this workspace's writers.
 *
 * Measured with 4 continuous writers on the embedded database: 25 calls take 3 to 5 s and all succeed; without the
 * lock, many end with 503 after 5 s each (test/security/resolver_busy_policy.test.ts). On PostgreSQL both succeed, in
 * 0.2 to 0.3 s with and 0.4 to 1 s without.
 *
 * A user of PostgreSQL that may not lock workspaces (docs/guides/database-users.md) decides without the lock. This
 * succeeds if no writer commits between its reads and its record, so it repeats the last attempt's reads together. With
 * writers in the same process, a call takes 0.1 s beside 2 of them and 0.4 s beside 4; 1 of 30 took 2.5 s.
 */
import type postgres from 'postgres'
import { groupOf, type JournalGroup, writeGroup } from '../audit/journal.ts'
import type { AuditTrail, Entry } from '../audit/trail.ts'
import { withTimeout } from '../core/async/timeout.ts'
import type { OuterLayer } from '../core/crypto/outer_layer.ts'
import type { Fault } from '../core/fault.ts'
import { openReader, readAhead, type SentRead } from './reader.ts'
import type { Verifier } from './signed/verifier.ts'
import { type Snapshot, SnapshotCache, StaleSnapshot } from './snapshots/snapshots.ts'
import type { LiveToken } from './tokens.ts'

/** Milliseconds for which writers are blocked. A decision that waits longer, such as for DNS, is retried. */
const TIMEOUT_MS = 2_000

/** A decision and its audit entry. */
export type Decided<T> = { result: T | Fault; entry: Entry }

/** Returns without a wait if everything is known. */
export type Decide<T> = (
  snapshot: Snapshot,
  snapshots: SnapshotCache,
) => Decided<T> | Promise<Decided<T>>

/**
 * Returns `null` if the token is no longer live, or the time ran out. Nothing is stored then. `asked` are the reads of
 * earlier attempts at this decision.
 */
export type DecideLocked = <T>(
  token: LiveToken,
  decide: Decide<T>,
  asked: SentRead[],
) => Promise<Decided<T> | null>

type Parts = { sql: postgres.Sql; trail: AuditTrail; outer: OuterLayer; verifier: Verifier }

export function openDecideLocked({ sql, trail, outer, verifier }: Parts): DecideLocked {
  return async <T>(token: LiveToken, decide: Decide<T>, asked: SentRead[]) => {
    const { decided, group } = (await sql.begin(async (tx) => {
      await keepWritersOut(tx, token.workspaceId)
      const snapshots = new SnapshotCache(readAhead(openReader(tx), asked), outer, verifier)
      const decision = snapshots
        .of(token.workspaceId)
        .then((snapshot) => decide(snapshot, snapshots))
      const decided = await withTimeout(TIMEOUT_MS, decision, () => new StaleSnapshot())
      return { decided, group: await writeGroup(tx, groupOf([decided.entry])) }
    })) as { decided: Decided<T>; group: JournalGroup }
    trail.hold(group)
    return group.intents.length > 0 ? decided : null
  }
}

/** PostgreSQL requires the privilege to update a row for locking it. */
async function keepWritersOut(tx: postgres.TransactionSql, workspaceId: string): Promise<void> {
  const [user] = await tx<{ mayLock: boolean }[]>`
    select has_any_column_privilege('workspaces', 'update') as "mayLock"`
  if (user?.mayLock) await tx`select 1 from workspaces where id = ${workspaceId} for share`
}
