/**
 * Asks PostgreSQL, over a new connection, which of its processes execute statements. Packet loss in the network looks
 * like a slow statement.
 */
import postgres from 'postgres'
import { withTimeout } from '../../core/async/timeout.ts'

/** Milliseconds for the question. */
const ASK_MS = 3_000

type Options = postgres.Options<Record<string, postgres.PostgresType>>

/** Uses a separate connection, because the others may also be silent. */
export async function workingOf(options: Options, pids: number[]): Promise<Set<number>> {
  const sql = postgres({ ...options, max: 1 })
  try {
    const rows = await withTimeout(
      ASK_MS,
      listWorkingProcesses(sql, pids),
      () => new Error('no response'),
    )
    return new Set(rows.map(({ pid }) => Number(pid)))
  } catch (error) {
    // A server that refuses the connection, perhaps because it is full, may be executing. An unreachable one may not.
    const isThere = error instanceof postgres.PostgresError && !error.code.startsWith('08')
    return new Set(isThere ? pids : [])
  } finally {
    void sql.end({ timeout: 0 })
  }
}

/**
 * Returns processes that execute a statement. One that waits for its client does not: its message was lost. A pooler
 * reports its own pids, so an unknown pid counts if any process has executed a statement for a second or longer.
 */
function listWorkingProcesses(sql: postgres.Sql, pids: number[]): Promise<{ pid: string }[]> {
  return sql<{ pid: string }[]>`
    with working as (
      select pid, query_start from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
        and state not like 'idle%' and wait_event_type is distinct from 'Client')
    select pid from (select value::bigint as pid from json_array_elements_text(${JSON.stringify(pids)}::text::json)) asked
    where pid in (select pid from working)
      or (not exists (select from pg_stat_activity known where known.pid = asked.pid)
        and exists (select from working where query_start < clock_timestamp() - interval '1 second'))`
}
