/** What is looked up when somebody asks: queues, caches, the database and this process. */
import { readdirSync } from 'node:fs'
import type postgres from 'postgres'
import { Counter, Gauge, type Registry } from 'prom-client'
import { version } from '../../../package.json'
import { withTimeout } from '../../platform/timeout.ts'

type CacheStats = { hits: number; misses: number; entries: number }

type Cache = { readonly stats: CacheStats }

export type Sources = {
  sql: postgres.Sql
  trail: { readonly depth: { entries: number; outcomes: number } }
  tokens: Cache
  snapshots: Cache
  keys: Cache
}

/** Milliseconds that the database has to answer. */
const TIMEOUT_MS = 2_000

export function openGauges(registry: Registry, sources: Sources): void {
  const registers = [registry]
  watchAudit(registers, sources)
  watchCaches(registers, sources)
  watchDatabase(registers, sources)
  watchProcess(registers)
}

function watchAudit(registers: Registry[], { trail }: Sources): void {
  new Gauge({
    name: 'cloakroom_audit_queue_depth',
    help: 'Intents that wait for their statement, and outcomes that wait to be written.',
    labelNames: ['kind'],
    registers,
    collect() {
      const { entries, outcomes } = trail.depth
      this.set({ kind: 'intents' }, entries)
      this.set({ kind: 'outcomes' }, outcomes)
    },
  })
}

function watchCaches(registers: Registry[], { tokens, snapshots, keys }: Sources): void {
  const caches = Object.entries({ tokens, snapshots, keys })
  const looks = { hits: 'Looks that a cache answered.', misses: 'Looks that it did not answer.' }
  for (const [kind, help] of Object.entries(looks)) {
    new Counter({
      name: `cloakroom_cache_${kind}_total`,
      help,
      labelNames: ['cache'],
      registers,
      collect() {
        this.reset()
        for (const [cache, { stats }] of caches)
          this.inc({ cache }, stats[kind as keyof typeof looks])
      },
    })
  }
  new Gauge({
    name: 'cloakroom_cache_entries',
    help: 'Entries of a cache.',
    labelNames: ['cache'],
    registers,
    collect() {
      for (const [cache, { stats }] of caches) this.set({ cache }, stats.entries)
    },
  })
}

function watchDatabase(registers: Registry[], { sql }: Sources): void {
  const ping = shared(() => pingDatabase(sql))
  new Gauge({
    name: 'cloakroom_database_up',
    help: 'Whether the database answered in time.',
    registers,
    async collect() {
      this.set((await ping()).connections ? 1 : 0)
    },
  })
  new Gauge({
    name: 'cloakroom_database_ping_seconds',
    help: 'Time of one small query through the pool.',
    registers,
    async collect() {
      this.set((await ping()).seconds)
    },
  })
  new Gauge({
    name: 'cloakroom_database_connections',
    help: 'Connections of all processes to this database, by state.',
    labelNames: ['state'],
    registers,
    async collect() {
      const { connections } = await ping()
      this.reset()
      for (const { state, count } of connections ?? []) this.set({ state }, count)
    },
  })
}

/** Gauges of one scrape that ask at the same moment share one answer. */
function shared<T>(ask: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined
  return () => {
    running ??= ask().finally(() => {
      running = undefined
    })
    return running
  }
}

type Ping = { seconds: number; connections: { state: string; count: number }[] | null }

async function pingDatabase(sql: postgres.Sql): Promise<Ping> {
  const startedAt = performance.now()
  const connections = await connectionsOf(sql).catch(() => null)
  return { seconds: (performance.now() - startedAt) / 1000, connections }
}

/** @throws when the database does not answer in time */
async function connectionsOf(sql: postgres.Sql): Promise<{ state: string; count: number }[]> {
  const query = sql<{ state: string; count: number }[]>`
    select coalesce(state, 'unknown') as state, count(*)::int as count from pg_stat_activity
    where datname = current_database() group by 1`
  return withTimeout(TIMEOUT_MS, query, () => new Error('no answer in time'))
}

/** The names that Prometheus' own libraries use for any process. */
function watchProcess(registers: Registry[]): void {
  const startedAt = Date.now() / 1000 - process.uptime()
  const gauges: Record<string, readonly [help: string, read: () => number]> = {
    process_resident_memory_bytes: ['Resident memory.', () => process.memoryUsage.rss()],
    process_heap_bytes: ['Heap in use.', () => process.memoryUsage().heapUsed],
    process_start_time_seconds: ['Start, in seconds since 1970.', () => startedAt],
    process_open_fds: ['Open file descriptors, where the system tells.', countDescriptors],
  }
  for (const [name, [help, read]] of Object.entries(gauges)) {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read())
      },
    })
  }
  new Counter({
    name: 'process_cpu_seconds_total',
    help: 'Processor time, user and system.',
    registers,
    collect() {
      const { user, system } = process.cpuUsage()
      this.reset()
      this.inc((user + system) / 1e6)
    },
  })
  new Gauge({
    name: 'nodejs_eventloop_lag_seconds',
    help: 'How late the event loop comes to work that is due.',
    registers,
    async collect() {
      const askedAt = performance.now()
      await new Promise((resolve) => setImmediate(resolve))
      this.set((performance.now() - askedAt) / 1000)
    },
  })
  new Gauge({
    name: 'cloakroom_build_info',
    help: 'The version that runs; always 1.',
    labelNames: ['version'],
    registers,
  }).set({ version }, 1)
}

function countDescriptors(): number {
  try {
    return readdirSync('/proc/self/fd').length
  } catch {
    return Number.NaN
  }
}
