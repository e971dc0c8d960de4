/**
 * The recent uses of a secret, so that someone who drafts a policy sees what it would have blocked. The
 * newest calls are counted by where they went; so many that it takes no longer than a list.
 */
import { type SQL, sql } from 'drizzle-orm'
import { isInBucket, reaches, termOf } from '../../audit/terms.ts'
import type { Grant } from '../../core/grant.ts'
import type { Database } from '../../database/open.ts'
import type { InputOf } from '../../http/endpoint.ts'
import type { summariseCalls } from './contract.ts'
import { matches } from './matching.ts'

/** Limits of examined calls, and of reported kinds of calls. */
const MAX_CALLS = 10_000
const MAX_KINDS = 500

type Asked = InputOf<typeof summariseCalls, 'query'>
type Row = {
  method: string
  target_url: string
  credentials: string
  styles: string
  decision: 'allowed' | 'blocked' | 'error'
  count: number
  last_at: string
}

/** The most frequent kinds, and whether that is all there was. */
export async function callsOf(tx: Database, { workspaceId }: Grant<'audit.read'>, asked: Asked) {
  const term = termOf(workspaceId, 'credential', asked.credential)
  const rows = await tx.transaction(async (inside) => {
    // As for lists: the planner would JIT-compile a fast query.
    await inside.execute(sql`set local jit = off`)
    return inside.execute<Row>(
      statement(
        term,
        matches(workspaceId, { ...asked, credential: [asked.credential] }),
        asked.since,
      ),
    )
  })
  const kinds = kindsOf(rows, asked.credential)
  const calls = rows.reduce((sum, { count }) => sum + count, 0)
  return {
    kinds: kinds.slice(0, MAX_KINDS),
    calls,
    is_whole: calls < MAX_CALLS && kinds.length <= MAX_KINDS,
  }
}

/**
 * From new to old, in the order of the buckets, and no further than to so many. `offset 0` makes the planner begin with the
 * buckets: with old statistics it compared each record with each bucket.
 */
function statement(term: SQL, which: SQL | undefined, since: Date): SQL {
  return sql`
    select method, target_url, credential_ref as credentials, injection_style as styles, decision,
      count(*)::int as count, max(timestamp)::text as last_at
    from (
      select found.* from (
        select distinct bucket from audit_terms where term = ${term} and ${reaches(since)}
        order by bucket desc) as buckets
      cross join lateral (
        select method, target_url, credential_ref, injection_style, decision, timestamp from audit_logs
        where ${which} and ${isInBucket} and action is null and method is not null
          and decision in ('allowed', 'blocked', 'error')
          and target_url is not null and injection_style is not null
        offset 0) as found
      limit ${MAX_CALLS}) as newest
    group by 1, 2, 3, 4, 5`
}

/** A call may put a value in several places, and names others beside it. */
function kindsOf(rows: readonly Row[], credential: string) {
  const kinds = new Map<
    string,
    Omit<Row, 'credentials' | 'styles' | 'last_at'> & { style: string; last_at: Date }
  >()
  for (const { credentials, styles, last_at, ...row } of rows) {
    for (const style of stylesOf(credential, credentials, styles)) {
      const key = JSON.stringify([row.method, row.target_url, row.decision, style])
      const known = kinds.get(key)
      const at = new Date(last_at)
      kinds.set(key, {
        ...row,
        style,
        count: row.count + (known?.count ?? 0),
        last_at: known && known.last_at > at ? known.last_at : at,
      })
    }
  }
  return [...kinds.values()].sort((a, b) => b.count - a.count)
}

/** Names and places are joined in one order. */
function stylesOf(credential: string, credentials: string, styles: string): Set<string> {
  const places = styles.split(',')
  return new Set(
    credentials.split(',').flatMap((name, at) => (name === credential ? (places[at] ?? []) : [])),
  )
}
