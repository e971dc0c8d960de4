/** Who takes part in `bench resolver`: the same upstream request on different ways. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAuthority } from '../../src/cli/demo/certificates.ts'
import { type BenchCluster, startBenchCluster } from './cluster.ts'
import type { Shot } from './load.ts'
import { startNginx } from './nginx.ts'
import type { BrokerSettings, UpstreamSettings } from './parts.ts'
import { partCommand, type Running, startPart } from './processes.ts'
import { benchSettings, employAgent, registerCustomer, startServer } from './server.ts'

const HOST = 'api.bench.example'
const API_KEY = 'bench_live_9fT2wQm4Zr8Kc1Vx'

export type Contestant = {
  name: string
  shot: Shot
  /** The process whose CPU time is counted; the upstream's for the direct way. */
  pid: number
  /** The database server's main process, where there is one. */
  databasePid: number | null
}

export type Field = { contestants: Contestant[]; clear(): Promise<void> }

type Ground = {
  directory: string
  upstream: { pid: number; host: string; port: number }
  caFile: string
  ca: string
  cluster: () => Promise<BenchCluster>
  /** What to undo, last first. */
  undo: (() => unknown)[]
}

type Entrant = Omit<Contestant, 'name'>

const entrants: Record<string, (ground: Ground) => Promise<Entrant>> = {
  direct: enterDirect,
  nginx: enterNginx,
  'bare broker': enterBareBroker,
  'bare broker, PostgreSQL': (ground) => enterBareBroker(ground, 'recorded'),
  'ours, PostgreSQL': (ground) => enterOurs(ground, 'postgresql'),
  'ours, embedded': (ground) => enterOurs(ground, 'embedded'),
  'ours, no audit': (ground) => enterOurs(ground, 'postgresql', 'no-audit'),
}

/** Starts everybody whose name matches. */
export async function gather(wanted: RegExp): Promise<Field> {
  const ground = await prepareGround()
  const contestants: Contestant[] = []
  for (const [name, enter] of Object.entries(entrants)) {
    if (wanted.test(name)) contestants.push({ name, ...(await enter(ground)) })
  }
  for (const contestant of contestants) await checkAnswer(contestant)
  return {
    contestants,
    clear: async () => {
      for (const step of ground.undo.reverse()) await step()
    },
  }
}

async function prepareGround(): Promise<Ground> {
  const directory = mkdtempSync(join(tmpdir(), 'cr-bench-'))
  const authority = await createAuthority('Cloakroom bench')
  const caFile = join(directory, 'ca.pem')
  writeFileSync(caFile, authority.certificate)
  const certificate = await authority.issue([HOST])
  const settings: UpstreamSettings = { ...certificate, authorization: `Bearer ${API_KEY}` }
  const running = await startPart('upstream', settings)
  const undo: Ground['undo'] = [() => rmSync(directory, { recursive: true, force: true })]
  undo.push(running.stop)
  let cluster: Promise<BenchCluster> | undefined
  return {
    directory,
    upstream: { pid: running.pid, host: HOST, port: portOf(running) },
    caFile,
    ca: authority.certificate,
    cluster: () => {
      cluster ??= startBenchCluster().then((started) => {
        undo.push(started.stop)
        return started
      })
      return cluster
    },
    undo,
  }
}

/** nginx and the bare broker are given the key: they are only to pass it on. */
function plainShot(url: string): Shot {
  return { url, method: 'GET', headers: { authorization: `Bearer ${API_KEY}` }, body: null }
}

async function enterDirect({ upstream }: Ground): Promise<Entrant> {
  const shot = plainShot(`https://127.0.0.1:${upstream.port}/v1/charges`)
  return { shot, pid: upstream.pid, databasePid: null }
}

async function enterNginx({ directory, upstream, caFile, undo }: Ground): Promise<Entrant> {
  const nginx = await startNginx(directory, { ...upstream, caFile })
  undo.push(nginx.stop)
  return { shot: plainShot(`${nginx.origin}/v1/charges`), pid: nginx.pid, databasePid: null }
}

async function enterBareBroker(
  { upstream, ca, undo, cluster }: Ground,
  recorded?: 'recorded',
): Promise<Entrant> {
  const database = recorded && (await cluster())
  const settings: BrokerSettings = {
    host: upstream.host,
    port: upstream.port,
    ca,
    ...(database ? { database: await database.createDatabase() } : {}),
  }
  const broker = await startPart('broker', settings)
  undo.push(broker.stop)
  const url = `http://127.0.0.1:${portOf(broker)}/v1/charges`
  return { shot: plainShot(url), pid: broker.pid, databasePid: database?.pid ?? null }
}

async function enterOurs(
  ground: Ground,
  database: 'postgresql' | 'embedded',
  part?: 'no-audit',
): Promise<Entrant> {
  const { directory, upstream, caFile, undo } = ground
  const cluster = database === 'postgresql' ? await ground.cluster() : null
  const env = {
    ...benchSettings(),
    ...(cluster ? await cluster.createDatabase() : { DATA_DIR: join(directory, 'data') }),
    RESOLVER_HOSTS: `${HOST}=127.0.0.1`,
    RESOLVER_ALLOW_NETWORKS: '127.0.0.1/32',
    RESOLVER_CA_FILE: caFile,
  }
  const server = await startServer(env, part && partCommand(part, env))
  undo.push(server.stop)
  const domain = `${HOST}:${upstream.port}`
  const token = await employAgent(await registerCustomer(server), { API_KEY }, domain)
  const body = JSON.stringify({
    target_url: `https://${domain}/v1/charges`,
    headers: { Authorization: 'Bearer SVC_SECRET_API_KEY' },
  })
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const shot = { url: `${server.resolver}/v1/resolve`, method: 'POST', headers, body } as const
  return { shot, pid: server.pid, databasePid: part ? null : (cluster?.pid ?? null) }
}

function portOf({ ready }: Running): number {
  return Number(ready.port)
}

/** Nobody's failures are to be measured. */
async function checkAnswer({ name, shot }: Contestant): Promise<void> {
  const { url, method, headers, body } = shot
  const answer = await fetch(url, { method, headers, body, tls: { rejectUnauthorized: false } })
  const text = await answer.text()
  if (!answer.ok || !text.includes('ch_1001')) throw new Error(`${name} answers wrongly: ${text}`)
}
