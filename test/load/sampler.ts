/** The resources that the server's processes and the database use, sampled once a second. */
import { readdirSync } from 'node:fs'
import postgres from 'postgres'
import { cpuSeconds, familyCpuSeconds, residentMb } from '../bench/processes.ts'
import type { Sample as Judged } from './judge.ts'
import type { Subject } from './subject.ts'

export type Sample = Judged & {
  /** Share of one core since the previous sample. */
  serverCpu: number
  databaseCpu: number
  connections: number
  commitsPerSecond: number
  walMbPerSecond: number
}

export type Totals = { serverCpuSeconds: number; databaseCpuSeconds: number }

export type AuditSize = { records: number; mb: number }

export type Sampler = {
  samples: Sample[]
  /**
   * The events for which active statements waited, and how often each was observed; `running` are those that did not
   * wait.
   */
  waits: Map<string, number>
  /** CPU time until now. */
  totals(): Totals
  /** Returns the size of the audit in the database, without the log; null for the embedded one. */
  stop(): Promise<AuditSize | null>
}

type Database = { connections: number; commits: number; wal: number }

const NO_DATABASE: Database = { connections: Number.NaN, commits: Number.NaN, wal: Number.NaN }
const SAMPLE_MS = 1_000
const WAITS_MS = 50

export async function startSampler(subject: Subject): Promise<Sampler> {
  const { pids, cluster, database } = subject
  const sql = cluster
    ? postgres({
        host: database.DB_HOST ?? '',
        database: database.DB_NAME ?? '',
        user: database.DB_USER ?? '',
        max: 1,
        connection: { application_name: 'load' },
      })
    : null
  const totals = () => ({
    serverCpuSeconds: sum(pids.map(cpuSeconds)),
    databaseCpuSeconds: cluster ? familyCpuSeconds(cluster.pid) : Number.NaN,
  })
  const began = performance.now()
  const samples: Sample[] = []
  const waits = new Map<string, number>()
  let before = { at: began, ...totals(), ...(await look(sql)) }
  const sample = async () => {
    const now = { at: performance.now(), ...totals(), ...(await look(sql)) }
    const since = (now.at - before.at) / 1000
    samples.push({
      seconds: (now.at - began) / 1000,
      residentMb: sum(pids.map(residentMb)),
      openFiles: sum(pids.map(openFiles)),
      serverCpu: (now.serverCpuSeconds - before.serverCpuSeconds) / since,
      databaseCpu: (now.databaseCpuSeconds - before.databaseCpuSeconds) / since,
      connections: now.connections,
      commitsPerSecond: (now.commits - before.commits) / since,
      walMbPerSecond: (now.wal - before.wal) / since / 1e6,
    })
    before = now
  }
  const loops = [repeat(SAMPLE_MS, sample)]
  if (sql) loops.push(repeat(WAITS_MS, () => countWaits(sql, waits)))
  return {
    samples,
    waits,
    totals,
    stop: async () => {
      for (const loop of loops) await loop.stop()
      const size = sql && (await sizeOfAudit(sql))
      await sql?.end()
      return size
    },
  }
}

async function look(sql: postgres.Sql | null): Promise<Database> {
  if (!sql) return NO_DATABASE
  const [row] = await sql<Database[]>`
    select (select count(*)::int from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()) as connections,
      xact_commit::float8 as commits, pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as wal
    from pg_stat_database where datname = current_database()`
  return row ?? NO_DATABASE
}

async function sizeOfAudit(sql: postgres.Sql): Promise<AuditSize | null> {
  const [row] = await sql<AuditSize[]>`
    select (select count(*)::float8 from audit_logs) as records, sum(pg_total_relation_size(oid))::float8 / 1e6 as mb
    from pg_class where relname in ('audit_logs', 'audit_terms', 'audit_rollups', 'audit_deltas')`
  return row ?? null
}

async function countWaits(sql: postgres.Sql, waits: Map<string, number>): Promise<void> {
  const rows = await sql<{ wait: string; count: number }[]>`
    select coalesce(wait_event_type || ' ' || wait_event, 'running') as wait, count(*)::int as count
    from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and state = 'active' group by 1`
  for (const { wait, count } of rows) waits.set(wait, (waits.get(wait) ?? 0) + count)
}

/** One after the other, however long each takes. */
function repeat(everyMs: number, work: () => Promise<void>): { stop(): Promise<void> } {
  let isOver = false
  const run = async () => {
    while (!isOver) {
      const began = performance.now()
      await work()
      await Bun.sleep(Math.max(0, everyMs - (performance.now() - began)))
    }
  }
  const running = run()
  return {
    stop: async () => {
      isOver = true
      await running
    },
  }
}

/** NaN without /proc. */
function openFiles(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length
  } catch {
    return Number.NaN
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
