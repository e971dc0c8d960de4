/**
 * `bench record` measures the durable record of a call by itself, in the process and in the database, without a call
 * around it. Each sample is its own process (part `record`), of this checkout or of the one given by `--against`.
 */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type postgres from 'postgres'
import type { Entry } from '../../src/audit/trail.ts'
import { startBenchCluster } from './cluster.ts'
import { figure, markdownTable, median, percentile } from './measure.ts'
import { cpuSeconds, familyCpuSeconds, partCommand } from './processes.ts'

export type RecordSettings = {
  /** The directory of the trail. */
  directory: string
  env: Record<string, string>
  databasePid: number
  concurrency: number
  seconds: number
  /** Nothing is recorded, which shows the cost of the loop. */
  isEmpty: boolean
}

type Sample = {
  perSecond: number
  p50Ms: number
  p99Ms: number
  cpuUs: number
  databaseUs: number
  walBytes: number
}

const SELF = join(import.meta.dir, '../..')
const TOKENS = 16
/** Milliseconds from a record to its outcome. */
const CALL_MS = 1
const WARM_MS = 2_000

export async function benchRecord(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      against: { type: 'string' },
      rounds: { type: 'string', default: '3' },
      seconds: { type: 'string', default: '4' },
      concurrency: { type: 'string', default: '16' },
    },
  })
  const cluster = await startBenchCluster()
  try {
    const contestants = await Promise.all(
      [
        { name: 'the loop alone', directory: SELF },
        { name: 'ours', directory: SELF },
        ...(values.against ? [{ name: 'the other checkout', directory: values.against }] : []),
      ].map(async (contestant) => ({
        ...contestant,
        samples: [] as Sample[],
        env: { ...keys, ...(await cluster.createDatabase()) },
      })),
    )
    for (let round = 0; round < Number(values.rounds); round += 1) {
      for (const { name, directory, env, samples } of contestants) {
        const settings: RecordSettings = {
          directory,
          env,
          databasePid: cluster.pid,
          concurrency: Number(values.concurrency),
          seconds: Number(values.seconds),
          isEmpty: name === 'the loop alone',
        }
        const { stdout } = Bun.spawnSync(partCommand('record', settings), { stderr: 'inherit' })
        samples.push(JSON.parse(String(stdout)))
      }
    }
    process.stdout.write(
      `${markdownTable(
        ['contestant', 'per s', 'p50 ms', 'p99 ms', 'CPU µs', 'database CPU µs', 'WAL bytes'],
        contestants.map(({ name, samples }) => [
          name,
          ...COLUMNS.map((column) => figure(median(samples.map((sample) => sample[column])))),
        ]),
      )}\n`,
    )
  } finally {
    await cluster.stop()
  }
}

const COLUMNS = ['perSecond', 'p50Ms', 'p99Ms', 'cpuUs', 'databaseUs', 'walBytes'] as const

const keys = {
  SECRET_KEY: randomBytes(32).toString('hex'),
  ENCRYPTION_KEY: randomBytes(32).toString('base64url'),
}

export async function recordCalls(settings: RecordSettings): Promise<void> {
  const { directory, env, databasePid, concurrency, seconds, isEmpty } = settings
  const load = (path: string) => import(join(directory, 'src', path))
  const { readConfig } = await load('core/config/config.ts')
  const { openDatabase } = await load('database/open.ts')
  const { migrate } = await load('database/migrations/migrate.ts')
  const { AuditTrail } = await load('audit/trail.ts')
  const { scheduleUpkeep } = await load('features/audit/upkeep.ts')
  const { openLog } = await load('core/log.ts')
  const connection = await openDatabase(
    readConfig(env, () => keys),
    () => {},
  )
  const sql: postgres.Sql = connection.sql
  await migrate(sql)
  const entryOf = await createTokens(sql)
  const log = openLog('warning')
  const trail = new AuditTrail(sql, log)
  const upkeep = scheduleUpkeep({ db: connection.db, log }, undefined)
  let over = false
  let latencies: number[] = []
  const caller = async (index: number) => {
    while (!over) {
      const entry = entryOf(index)
      const startedAt = performance.now()
      if (!isEmpty) {
        const verdict = await trail.record(entry)
        if (verdict !== 'recorded') throw new Error(verdict)
      }
      latencies.push(performance.now() - startedAt)
      await Bun.sleep(CALL_MS)
      const { id } = entry
      if (!isEmpty)
        trail.conclude({
          id,
          decision: 'allowed',
          reason: null,
          status_code: 200,
          duration_ms: 3,
          redacted: false,
        })
    }
  }
  const callers = Array.from({ length: concurrency }, (_, index) => caller(index))
  await Bun.sleep(WARM_MS)
  latencies = []
  const before = await stateOf(sql, databasePid)
  await Bun.sleep(seconds * 1000)
  const calls = latencies
  const after = await stateOf(sql, databasePid)
  over = true
  await Promise.all(callers)
  upkeep.stop()
  await trail.close(5_000)
  await connection.close()
  const each = (column: keyof typeof after) => (after[column] - before[column]) / calls.length
  const sample: Sample = {
    perSecond: 1 / each('at'),
    p50Ms: percentile(calls, 50),
    p99Ms: percentile(calls, 99),
    cpuUs: each('own') * 1e6,
    databaseUs: each('database') * 1e6,
    walBytes: each('wal'),
  }
  process.stdout.write(JSON.stringify(sample))
  process.exit()
}

async function stateOf(sql: postgres.Sql, databasePid: number) {
  const [row] = await sql`select (pg_current_wal_lsn() - '0/0')::float8 as wal`
  return {
    at: performance.now() / 1000,
    own: cpuSeconds(process.pid),
    database: familyCpuSeconds(databasePid),
    wal: Number(row?.wal),
  }
}

/** Tokens of a workspace, and the entry of a call of each. */
async function createTokens(sql: postgres.Sql): Promise<(index: number) => Entry> {
  const [workspace, project] = [Bun.randomUUIDv7(), Bun.randomUUIDv7()]
  await sql`insert into workspaces (id, name, type) values (${workspace}, 'bench', 'shared')`
  const agents = Array.from({ length: TOKENS }, () => ({
    agent: Bun.randomUUIDv7(),
    token: Bun.randomUUIDv7(),
  }))
  for (const { agent, token } of agents) {
    await sql`insert into agents (id, workspace_id, name) values (${agent}, ${workspace}, ${agent})`
    await sql`insert into tokens (id, workspace_id, kind, agent_id, label, verifier, public_key, capabilities)
      values (${token}, ${workspace}, 'agent', ${agent}, '', '', '', '["use"]')`
  }
  return (index) => {
    const { agent, token } = agents[index % TOKENS] ?? { agent: '', token: '' }
    return {
      id: Bun.randomUUIDv7(),
      workspace_id: workspace,
      policy_version: 1,
      token_id: token,
      registration_id: agent,
      agent_id: `bench-agent-${index % TOKENS}`,
      identity_level: 'agent',
      timestamp: new Date(),
      project_id: project,
      environment: 'development',
      method: 'GET',
      target_url: 'https://api.bench.example:12345/v1/charges',
      target_path: '/v1/charges',
      target_domain: 'api.bench.example',
      credential_ref: 'API_KEY',
      injection_style: 'header',
      decision: 'allowed',
      reason: null,
      status_code: null,
      duration_ms: null,
      redacted: null,
      action: null,
    }
  }
}
