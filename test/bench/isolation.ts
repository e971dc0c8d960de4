/**
 * `bench isolation` measures how one workspace is affected by another that keeps a thousand calls to a slow upstream
 * running: latencies with and without that, in turns.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createAuthority } from '../../src/cli/demo/certificates.ts'
import { startBenchCluster } from './cluster.ts'
import { employAgents, registerCustomer } from './customer.ts'
import { applyLoad, type LoadResult, type Shot } from './load.ts'
import { figure, markdownTable, median } from './measure.ts'
import { startPart } from './processes.ts'
import { benchSettings, type Server, startServer } from './server.ts'

const HOST = 'api.bench.example'
const API_KEY = 'bench_live_9fT2wQm4Zr8Kc1Vx'
/** Time for the slow workspace to open its connections, each of which needs a handshake at the upstream. */
const SETTLING_MS = 5_000
const WARM_SECONDS = 8

type Shots = { slow: Shot; fast: Shot }
type Options = { rounds: number; seconds: number; calls: number; concurrency: number }

export async function benchIsolation(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '5' },
      calls: { type: 'string', default: '1000' },
      concurrency: { type: 'string', default: '4' },
      workers: { type: 'string', default: '1' },
    },
  })
  const undo: (() => unknown)[] = []
  try {
    const shots = await prepare(values.workers, undo)
    const { rounds, seconds, calls, concurrency } = values
    const numbers = [rounds, seconds, calls, concurrency].map(Number)
    const [r = 0, s = 0, c = 0, n = 0] = numbers
    await takeRounds(shots, { rounds: r, seconds: s, calls: c, concurrency: n })
  } finally {
    for (const step of undo.reverse()) await step()
  }
}

async function prepare(workers: string, undo: (() => unknown)[]): Promise<Shots> {
  const directory = mkdtempSync(join(tmpdir(), 'cr-bench-'))
  undo.push(() => rmSync(directory, { recursive: true, force: true }))
  const authority = await createAuthority('Cloakroom bench')
  const RESOLVER_CA_FILE = join(directory, 'ca.pem')
  writeFileSync(RESOLVER_CA_FILE, authority.certificate)
  const certificate = await authority.issue([HOST])
  const upstream = await startPart('upstream', {
    ...certificate,
    authorization: `Bearer ${API_KEY}`,
  })
  undo.push(upstream.stop)
  const cluster = await startBenchCluster()
  undo.push(cluster.stop)
  const server = await startServer({
    ...benchSettings(),
    ...(await cluster.createDatabase()),
    WORKERS: workers,
    RESOLVER_HOSTS: `${HOST}=127.0.0.1`,
    RESOLVER_ALLOW_NETWORKS: '127.0.0.1/32',
    RESOLVER_CA_FILE,
  })
  undo.push(server.stop)
  const authorityOfUpstream = `${HOST}:${upstream.ready.port}`
  return {
    slow: await shotOf(server, authorityOfUpstream, '/slow'),
    fast: await shotOf(server, authorityOfUpstream, '/v1/charges'),
  }
}

/** Each load uses its own workspace. */
async function shotOf(server: Server, domain: string, path: string): Promise<Shot> {
  const customer = await registerCustomer(server, 'signed')
  const [token = ''] = await employAgents(customer, { API_KEY }, domain, 1)
  const body = JSON.stringify({
    target_url: `https://${domain}${path}`,
    headers: { Authorization: 'Bearer SVC_SECRET_API_KEY' },
  })
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  return { url: `${server.resolver}/v1/resolve`, method: 'POST', headers, body }
}

async function takeRounds({ slow, fast }: Shots, options: Options): Promise<void> {
  const { rounds, seconds, calls, concurrency } = options
  const measure = () => applyLoad({ shot: fast, concurrency, seconds })
  await applyLoad({ shot: fast, concurrency: 16, seconds: WARM_SECONDS })
  const alone: LoadResult[] = []
  const beside: LoadResult[] = []
  const others: LoadResult[] = []
  for (let round = 1; round <= rounds; round += 1) {
    process.stderr.write(`round ${round} of ${rounds}\n`)
    alone.push(await measure())
    const length = seconds + (2 * SETTLING_MS) / 1000
    const other = applyLoad({ shot: slow, concurrency: calls, seconds: length })
    await Bun.sleep(SETTLING_MS)
    beside.push(await measure())
    others.push(await other)
  }
  const rows = [
    rowOf('fast, alone', alone),
    rowOf(`fast, beside ${calls} slow calls`, beside),
    rowOf('the slow calls, of 1 s', others),
  ]
  const head = ['calls', 'per s', 'p50 ms', 'p99 ms', 'failures']
  const ratio = p99Of(beside) / p99Of(alone)
  process.stdout.write(`${markdownTable(head, rows)}\n\np99 beside / alone: ${figure(ratio)}\n`)
}

function p99Of(results: readonly LoadResult[]): number {
  return median(results.map(({ p99Ms }) => p99Ms))
}

function rowOf(name: string, results: readonly LoadResult[]): string[] {
  const rate = median(results.map(({ requests, seconds }) => requests / seconds))
  const failures = results.reduce((sum, result) => sum + result.failures, 0)
  const p50 = median(results.map(({ p50Ms }) => p50Ms))
  return [name, rate.toFixed(0), figure(p50), figure(p99Of(results)), String(failures)]
}
