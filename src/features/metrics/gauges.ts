/** Gauges that are read with each scrape: queues, caches, the database and this process. */
import type postgres from 'postgres'
import { Counter, collectDefaultMetrics, Gauge, type Registry } from 'prom-client'
import { version } from '../../../package.json'
import { withTimeout } from '../../core/async/timeout.ts'
import type { Tracer } from '../../core/trace/tracer.ts'
import { type Installation, watchInstallation } from './installation_gauges.ts'

type CacheStats = { hits: number; misses: number; entries: number }

type Cache = { readonly stats: CacheStats }

export type Sources = Installation & {
  trail: { readonly depth: { entries: number; outcomes: number } }
  tokens: Cache
  snapshots: Cache
  keys: Cache
  refusals: { readonly count: number }
  tracer?: Tracer | null
}

/** Milliseconds that the database has to answer. */
const TIMEOUT_MS = 2_000

export function openGauges(registry: Registry, sources: Sources): void {
  const registers = [registry]
  watchAudit(registers, sources)
  watchCaches(registers, sources)
  watchRefusals(registers, sources)
  watchTraces(registers, sources)
  watchDatabase(registers, sources)
  watchProcess(registry)
  watchInstallation(registry, sources)
}

function watchAudit(registers: Registry[], { trail }: Sources): void {
  new Gauge({
    name: 'cloakroom_audit_queue_depth',
    help: 'Audit records waiting to be written.',
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
  const helps = { hits: 'Cache hits.', misses: 'Cache misses.' }
  for (const [kind, help] of Object.entries(helps)) {
    new Counter({
      name: `cloakroom_cache_${kind}_total`,
      help,
      labelNames: ['cache'],
      registers,
      collect() {
        this.reset()
        for (const [cache, { stats }] of caches)
          this.inc({ cache }, stats[kind as keyof typeof helps])
      },
    })
  }
  new Gauge({
    name: 'cloakroom_cache_entries',
    help: 'Cache entries.',
    labelNames: ['cache'],
    registers,
    collect() {
      for (const [cache, { stats }] of caches) this.set({ cache }, stats.entries)
    },
  })
}

function watchRefusals(registers: Registry[], { refusals }: Sources): void {
  new Counter({
    name: 'cloakroom_unverified_state_total',
    help: 'Checks of signed workspaces that failed verification.',
    registers,
    collect() {
      this.reset()
      this.inc(refusals.count)
    },
  })
}

function watchTraces(registers: Registry[], { tracer }: Sources): void {
  new Counter({
    name: 'cloakroom_trace_spans_total',
    help: 'Trace spans: exported, dropped because the queue was full, or rejected by the collector.',
    labelNames: ['outcome'],
    registers,
    collect() {
      this.reset()
      const counts = tracer?.counts.spans ?? { exported: 0, dropped: 0, failed: 0 }
      for (const [outcome, count] of Object.entries(counts)) this.inc({ outcome }, count)
    },
  })
}

function watchDatabase(registers: Registry[], { sql }: Sources): void {
  const ping = shareQuery(() => pingDatabase(sql))
  new Gauge({
    name: 'cloakroom_database_up',
    help: '1 if the database responds in time, else 0.',
    registers,
    async collect() {
      this.set((await ping()).connections ? 1 : 0)
    },
  })
  new Gauge({
    name: 'cloakroom_database_ping_seconds',
    help: 'Duration of a small query through the pool.',
    registers,
    async collect() {
      this.set((await ping()).seconds)
    },
  })
  new Gauge({
    name: 'cloakroom_database_connections',
    help: 'Database connections of all processes, by state.',
    labelNames: ['state'],
    registers,
    async collect() {
      const { connections } = await ping()
      this.reset()
      for (const { state, count } of connections ?? []) this.set({ state }, count)
    },
  })
}

/** Gauges of one scrape that ask at the same moment share one query. */
function shareQuery<T>(ask: () => Promise<T>): () => Promise<T> {
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
  return withTimeout(TIMEOUT_MS, query, () => new Error('the database timed out'))
}

/**
 * Metrics of prom-client that are meaningless on Bun: it has no active handles to list, no spaces of V8's
 * heap and no events of its collector. What counts as heap there is address space, most of it never used.
 */
const EMPTY_ON_BUN = [
  'nodejs_active_handles',
  'nodejs_active_handles_total',
  'nodejs_active_requests',
  'nodejs_active_requests_total',
  'nodejs_active_resources',
  'nodejs_active_resources_total',
  'nodejs_gc_duration_seconds',
  'nodejs_heap_space_size_available_bytes',
  'nodejs_heap_space_size_total_bytes',
  'nodejs_heap_space_size_used_bytes',
  'nodejs_version_info',
  'process_heap_bytes',
]

/** The names that Prometheus' own libraries use for any process, and the version of this one. */
function watchProcess(registry: Registry): void {
  collectDefaultMetrics({ register: registry })
  for (const name of EMPTY_ON_BUN) registry.removeSingleMetric(name)
  const registers = [registry]
  new Gauge({
    name: 'process_heap_bytes',
    help: 'Heap in use, in bytes.',
    registers,
    collect() {
      this.set(process.memoryUsage().heapUsed)
    },
  })
  new Gauge({
    name: 'cloakroom_build_info',
    help: 'Running version; always 1.',
    labelNames: ['version'],
    registers,
  }).set({ version }, 1)
}
