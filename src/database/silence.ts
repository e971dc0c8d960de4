/**
 * A network that swallows packets says nothing: what was asked would wait for minutes, and all that comes after it. So a
 * connection of the pool of which nothing is heard is given up, unless PostgreSQL says that it is at work there.
 */
import postgres from 'postgres'
import { withTimeout } from '../core/async/timeout.ts'

/** Seconds, so that what waited for a connection before is answered within ten, too. */
const SILENT_SECONDS = 6.5
/** Milliseconds for the question, of the half of them that is left. */
const ASK_MS = 3_000
/** Locks of a transaction whose client is gone end so: then nothing tells PostgreSQL that it is. */
const BEGIN = "begin; set local idle_in_transaction_session_timeout = '30s'"

type Options = postgres.Options<Record<string, postgres.PostgresType>>

/** What a pool that serves requests is opened with besides. */
export function givingUp(options: Options) {
  return {
    silence: SILENT_SECONDS,
    begin: BEGIN,
    onsilence: (pids: number[]) => workingOf(options, pids),
  }
}

/** Over a connection of its own, since the others may be as silent. */
async function workingOf(options: Options, pids: number[]): Promise<Set<number>> {
  const sql = postgres({ ...options, max: 1 })
  try {
    const rows = await withTimeout(ASK_MS, workingIn(sql, pids), () => new Error('no answer'))
    return new Set(rows.map(({ pid }) => Number(pid)))
  } catch (error) {
    // One that refuses us, as when it is full, is there, and may be at work; not so a pooler that cannot reach it.
    const isThere = error instanceof postgres.PostgresError && !error.code.startsWith('08')
    return new Set(isThere ? pids : [])
  } finally {
    void sql.end({ timeout: 0 })
  }
}

/**
 * What waits for its client does not work: its answer, or the rest of what it was asked, was swallowed. A pooler gives
 * numbers of its own, so one that PostgreSQL does not know may be any that works for a second or longer.
 */
function workingIn(sql: postgres.Sql, pids: number[]): Promise<{ pid: string }[]> {
  return sql<{ pid: string }[]>`
    with working as (
      select pid, query_start from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
        and state not like 'idle%' and wait_event_type is distinct from 'Client')
    select pid from (select value::bigint as pid from json_array_elements_text(${JSON.stringify(pids)}::text::json)) asked
    where pid in (select pid from working)
      or (not exists (select from pg_stat_activity known where known.pid = asked.pid)
        and exists (select from working where query_start < clock_timestamp() - interval '1 second'))`
}
