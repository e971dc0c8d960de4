/** The subject of the load: a real server with its database, an upstream, and people and agents who use it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAuthority } from '../../src/cli/demo/certificates.ts'
import { type BenchCluster, startBenchCluster } from '../bench/cluster.ts'
import { type Customer, employAgents, registerCustomer, storeSecrets } from '../bench/customer.ts'
import { childrenOf, startPart } from '../bench/processes.ts'
import { benchSettings, type Server, serverCommand, startServer } from '../bench/server.ts'

export const HOST = 'api.load.example'
export const SECRETS = 100
/** How long an opened key is cached here, which "cold" calls wait out. */
export const KEY_CACHE_SECONDS = 10
const HOT_TOKENS = 16

export type Options = {
  database: 'embedded' | 'postgresql'
  processes: number
  /** Tokens, each of which idles for longer than its key is cached. */
  coldTokens: number
  executable?: string | undefined
  /** More settings of the server. */
  settings?: Record<string, string>
}

export type Subject = {
  server: Server
  /** All processes of the server, the first one included. */
  pids: readonly number[]
  cluster: BenchCluster | null
  /** The variables that select the database. */
  database: Record<string, string>
  /** All settings of the server, to start it again. */
  env: Record<string, string>
  /**
   * The customer with the calling agents, and the one who reads and writes secrets, so that a write does not make
   * each call cold.
   */
  caller: Customer
  writer: Customer
  hotTokens: readonly string[]
  coldTokens: readonly string[]
  upstream: string
  stop(): Promise<void>
}

export async function startSubject(options: Options): Promise<Subject> {
  const undo: (() => unknown)[] = []
  const stop = async () => {
    for (const step of undo.splice(0).reverse()) await step()
  }
  try {
    return { ...(await start(options, undo)), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function start(options: Options, undo: (() => unknown)[]): Promise<Omit<Subject, 'stop'>> {
  const directory = mkdtempSync(join(tmpdir(), 'cr-load-'))
  undo.push(() => rmSync(directory, { recursive: true, force: true }))
  const authority = await createAuthority('Cloakroom load')
  const RESOLVER_CA_FILE = join(directory, 'ca.pem')
  writeFileSync(RESOLVER_CA_FILE, authority.certificate)
  const key = `load_live_${crypto.randomUUID()}`
  const certificate = await authority.issue([HOST])
  const upstream = await startPart('upstream', { ...certificate, authorization: `Bearer ${key}` })
  undo.push(upstream.stop)
  const cluster = options.database === 'postgresql' ? await startBenchCluster() : null
  if (cluster) undo.push(cluster.stop)
  const database = cluster ? await cluster.createDatabase() : { DATA_DIR: join(directory, 'data') }
  const env = {
    ...benchSettings(),
    ...database,
    WORKERS: String(options.processes),
    KEY_CACHE_SECONDS: String(KEY_CACHE_SECONDS),
    RESOLVER_HOSTS: `${HOST}=127.0.0.1`,
    RESOLVER_ALLOW_NETWORKS: '127.0.0.1/32',
    RESOLVER_CA_FILE,
    ...options.settings,
  }
  const server = await startServer(env, serverCommand({ executable: options.executable }))
  undo.push(server.stop)
  const address = `${HOST}:${upstream.ready.port}`
  const caller = await registerCustomer(server, 'signed')
  const count = HOT_TOKENS + options.coldTokens
  const tokens = await employAgents(caller, { ...secretsOf(), API_KEY: key }, address, count)
  const writer = await registerCustomer(server, 'plain')
  await storeSecrets(writer, secretsOf())
  return {
    server,
    pids: [server.pid, ...childrenOf(server.pid)],
    cluster,
    database,
    env,
    caller,
    writer,
    hotTokens: tokens.slice(0, HOT_TOKENS),
    coldTokens: tokens.slice(HOT_TOKENS),
    upstream: `https://${address}`,
  }
}

function secretsOf(): Record<string, string> {
  const names = Array.from({ length: SECRETS }, (_, index) => `SECRET_${index}`)
  return Object.fromEntries(names.map((name) => [name, `load-${crypto.randomUUID()}`]))
}
