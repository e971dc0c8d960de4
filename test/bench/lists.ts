/** `bench lists` measures pages of the audit with a million records, by each filter and by some together. */
import { randomBytes } from 'node:crypto'
import { parseArgs } from 'node:util'
import { readConfig } from '../../src/core/config/config.ts'
import type { Grant } from '../../src/core/grant.ts'
import { migrate } from '../../src/database/migrations/migrate.ts'
import { openDatabase } from '../../src/database/open.ts'
import type { RecordFilters } from '../../src/features/audit/contract.ts'
import { summariseFiltered } from '../../src/features/audit/filtered_summary.ts'
import { selectLogs } from '../../src/features/audit/queries.ts'
import { summarise } from '../../src/features/audit/summary.ts'
import { foldDeltas } from '../../src/features/audit/upkeep.ts'
import { startBenchCluster } from './cluster.ts'
import { figure, markdownTable, median, timed } from './measure.ts'
import { seedAudit } from './seed_audit.ts'

const DAYS = 90
const DAY_MS = 86_400_000
const REPEATS = 5

export async function benchLists(args: string[]): Promise<void> {
  const options = { rows: { type: 'string', default: '1000000' } } as const
  const rows = Number(parseArgs({ args, options }).values.rows)
  const cluster = await startBenchCluster()
  const keys = {
    SECRET_KEY: randomBytes(32).toString('hex'),
    ENCRYPTION_KEY: randomBytes(32).toString('base64url'),
  }
  const config = readConfig({ ...keys, ...(await cluster.createDatabase()) }, () => keys)
  const connection = await openDatabase(config, () => {})
  try {
    await migrate(connection.sql)
    const workspaceId = Bun.randomUUIDv7()
    await seedAudit(connection.sql, { workspaceId, rows, days: DAYS })
    await foldDeltas(connection.db)
    await connection.sql.unsafe('vacuum analyze')
    // The grant that a transaction would have read for the caller.
    const grant = { workspaceId } as Grant<'audit.read'>
    const pageOf = async (filters: RecordFilters, limit: number, daysAgo: number) => {
      const timestamp = new Date(Date.now() - daysAgo * DAY_MS).toISOString()
      const after = daysAgo === 0 ? null : { timestamp, id: workspaceId }
      return selectLogs(connection.db, grant, filters, { after, limit, order: 'newest' })
    }
    const table: string[][] = []
    for (const [name, filters] of Object.entries(filtersOf())) {
      const cells: string[] = []
      for (const [limit, daysAgo] of [
        [100, 0],
        [500, 0],
        [100, DAYS / 2],
        [500, DAYS / 2],
      ] as const) {
        const times: number[] = []
        for (let run = 0; run <= REPEATS; run += 1)
          times.push(await timed(() => pageOf(filters, limit, daysAgo)))
        cells.push(figure(median(times.slice(1))))
      }
      const { length } = await pageOf(filters, 100, 0)
      table.push([name, length > 100 ? 'more' : String(length), ...cells])
    }
    const summary = await timed(() => summarise(connection.db, grant, {}))
    const filtered = await timed(() =>
      summariseFiltered(connection.db, grant, { project_id: idOf('project 1') }),
    )
    const head = ['filter', 'records', '100, newest', '500, newest', '100, 45 days ago']
    process.stdout.write(`${markdownTable([...head, '500, 45 days ago'], table)}\n`)
    process.stdout.write(`\nsummary of everything: ${figure(summary)} ms\n`)
    process.stdout.write(`summary of a project: ${figure(filtered)} ms\n`)
  } finally {
    await connection.close()
    await cluster.stop()
  }
}

/** Values that seed_audit.ts stores often, rarely and never. */
function filtersOf(): Record<string, RecordFilters> {
  return {
    none: {},
    project: { project_id: idOf('project 1') },
    environment: { environment: 'development' },
    'environment, rare': { environment: 'staging' },
    'agent, by name': { agent_id: ['agent-7'] },
    'agent, by id': { agent_id: [idOf('registration 7')] },
    'agent, by token, rare': { agent_id: [idOf('token 99')] },
    'agent, unknown': { agent_id: [idOf('nobody')] },
    domain: { domain: ['api-3.example.com'] },
    'domain, rare': { domain: ['api-99.example.com'] },
    method: { method: 'GET' },
    'method, rare': { method: 'DELETE' },
    status: { status_code: 200 },
    'status, rare': { status_code: 418 },
    'status, unknown': { status_code: 500 },
    'action, unknown': { action: ['secret.read'] },
    'credential, alone and among others': { credential: ['KEY_10'] },
    'credential, alone': { credential: ['KEY_11'] },
    'credential, among others': { credential: ['SHARED_KEY'] },
    'credential, unknown': { credential: ['NO_KEY'] },
    'environment and method': { environment: 'production', method: 'POST' },
    'method and rare status': { method: 'GET', status_code: 418 },
    'agent and project that never meet': { agent_id: ['agent-1'], project_id: idOf('project 0') },
    refused: { decision: 'blocked' },
    'agent, refused': { agent_id: ['agent-7'], decision: 'blocked' },
    'agents, several': { agent_id: ['agent-7', 'agent-8', 'agent-9'] },
    'agent, on one day': {
      agent_id: ['agent-7'],
      since: new Date(Date.now() - 60 * DAY_MS),
      until: new Date(Date.now() - 59 * DAY_MS),
    },
  }
}

function idOf(text: string): string {
  const hash = new Bun.CryptoHasher('md5').update(text).digest('hex')
  return hash.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
