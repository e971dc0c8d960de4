/** Who takes part in `bench resolver`: the same upstream request on different ways. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAuthority } from '../../src/cli/demo/certificates.ts'
import { type BenchCluster, startBenchCluster } from './cluster.ts'
import type { Shot } from './load.ts'
import { type Names, serveNames } from './names.ts'
import { startNginx } from './nginx.ts'
import type { BrokerSettings, UpstreamSettings } from './parts.ts'
import { partCommand, type Running, startPart, startProcess } from './processes.ts'
import {
  benchSettings,
  employAgents,
  registerCustomer,
  type Server,
  serverCommand,
  startServer,
} from './server.ts'

const HOST = 'api.bench.example'
const API_KEY = 'bench_live_9fT2wQm4Zr8Kc1Vx'
const PATH = '/v1/charges'
/** Agents that call, one after the other: connections to upstreams are of one token each. */
const TOKENS = 16

export type Contestant = {
  name: string
  shot: Shot
  /** The process whose CPU time is counted; the upstream's for the direct way. */
  pid: number
  /** The database server's main process, where there is one. */
  databasePid: number | null
}

export type Field = { contestants: Contestant[]; clear(): Promise<void> }

export type FieldOptions = {
  /** Names of those who take part. */
  only: RegExp
  /** Another checkout of the product, to be measured in the same rounds. */
  against?: string | undefined
  /** Where the CPU profile of the first of ours goes, once it has stopped. */
  profile?: string | undefined
  /** An executable in place of the sources. */
  executable?: string | undefined
}

type Ground = {
  directory: string
  names: Names
  upstream: { pid: number; host: string; port: number }
  caFile: string
  ca: string
  options: FieldOptions
  cluster: () => Promise<BenchCluster>
  ours: (variant: Variant) => Promise<Ours>
  /** What to undo, last first. */
  undo: (() => unknown)[]
}

type Entrant = Omit<Contestant, 'name'>
type Variant = 'PostgreSQL' | 'embedded' | 'no audit' | 'the other checkout'
type Ours = { server: Server; tokens: string[]; databasePid: number | null }

const entrants: Record<string, (ground: Ground) => Promise<Entrant>> = {
  direct: enterDirect,
  nginx: enterNginx,
  'Go ReverseProxy': enterGo,
  'bare broker': enterBareBroker,
  'bare broker, PostgreSQL': (ground) => enterBareBroker(ground, 'recorded'),
  'ours, PostgreSQL': async (ground) => resolving(ground, await ground.ours('PostgreSQL')),
  'ours, PostgreSQL, forward mode': async (ground) =>
    forwarding(ground, await ground.ours('PostgreSQL')),
  'ours, embedded': async (ground) => resolving(ground, await ground.ours('embedded')),
  'ours, no audit': async (ground) => resolving(ground, await ground.ours('no audit')),
}

const entrantsAgainst: typeof entrants = {
  'other, PostgreSQL': async (ground) => resolving(ground, await ground.ours('the other checkout')),
  'other, PostgreSQL, forward mode': async (ground) =>
    forwarding(ground, await ground.ours('the other checkout')),
}

/** Starts everybody whose name matches. */
export async function gather(options: FieldOptions): Promise<Field> {
  const ground = await prepareGround(options)
  const contestants: Contestant[] = []
  const all = { ...entrants, ...(options.against ? entrantsAgainst : {}) }
  for (const [name, enter] of Object.entries(all)) {
    if (options.only.test(name)) contestants.push({ name, ...(await enter(ground)) })
  }
  for (const contestant of contestants) await checkAnswer(contestant)
  return {
    contestants,
    clear: async () => {
      for (const step of ground.undo.reverse()) await step()
    },
  }
}

async function prepareGround(options: FieldOptions): Promise<Ground> {
  const directory = mkdtempSync(join(tmpdir(), 'cr-bench-'))
  const names = await serveNames(directory, '127.0.0.1')
  const authority = await createAuthority('Cloakroom bench')
  const caFile = join(directory, 'ca.pem')
  writeFileSync(caFile, authority.certificate)
  const certificate = await authority.issue([HOST])
  const settings: UpstreamSettings = { ...certificate, authorization: `Bearer ${API_KEY}` }
  const running = await startPart('upstream', settings)
  const undo: Ground['undo'] = [() => rmSync(directory, { recursive: true, force: true })]
  undo.push(names.stop, running.stop)
  const ground: Ground = {
    directory,
    names,
    upstream: { pid: running.pid, host: HOST, port: portOf(running) },
    caFile,
    ca: authority.certificate,
    options,
    cluster: once(async () => {
      const cluster = await startBenchCluster()
      undo.push(cluster.stop)
      return cluster
    }),
    ours: once((variant) => startOurs(ground, variant)),
    undo,
  }
  return ground
}

/** The same result for the same argument. */
function once<A extends unknown[], T>(
  make: (...args: A) => Promise<T>,
): (...args: A) => Promise<T> {
  const made = new Map<string, Promise<T>>()
  return (...args) => {
    const key = args.join()
    const known = made.get(key) ?? make(...args)
    made.set(key, known)
    return known
  }
}

/** nginx and the bare broker are given the key: they are only to pass it on. */
function keyShot(url: string): Shot {
  return { url, method: 'GET', headers: { authorization: `Bearer ${API_KEY}` }, body: null }
}

async function enterDirect({ upstream }: Ground): Promise<Entrant> {
  const shot = keyShot(`https://127.0.0.1:${upstream.port}${PATH}`)
  return { shot, pid: upstream.pid, databasePid: null }
}

async function enterNginx({ directory, names, upstream, caFile, undo }: Ground): Promise<Entrant> {
  const nginx = await startNginx(directory, { ...upstream, caFile }, names)
  undo.push(nginx.stop)
  return { shot: keyShot(`${nginx.origin}${PATH}`), pid: nginx.pid, databasePid: null }
}

/** @throws Error where Go is not installed */
async function enterGo({ directory, names, upstream, caFile, undo }: Ground): Promise<Entrant> {
  const PATH_WITH_GO = `${process.env.PATH}:/usr/local/go/bin`
  const go = Bun.which('go', { PATH: PATH_WITH_GO })
  if (!go) throw new Error('Go is not installed')
  const program = join(directory, 'go_proxy')
  const source = join(import.meta.dir, 'go_proxy.go')
  const built = Bun.spawnSync([go, 'build', '-o', program, source])
  if (!built.success) throw new Error(`go build failed: ${built.stderr}`)
  const origin = `https://${upstream.host}:${upstream.port}`
  const proxy = await startProcess(names.within([program, origin, caFile]), {
    ready: /^listening on (?<port>\d+)$/m,
  })
  undo.push(proxy.stop)
  const url = `http://127.0.0.1:${portOf(proxy)}${PATH}`
  return { shot: keyShot(url), pid: proxy.pid, databasePid: null }
}

async function enterBareBroker(
  { names, upstream, ca, undo, cluster }: Ground,
  recorded?: 'recorded',
): Promise<Entrant> {
  const database = recorded && (await cluster())
  const settings: BrokerSettings = {
    host: upstream.host,
    port: upstream.port,
    ca,
    ...(database ? { database: await database.createDatabase() } : {}),
  }
  const broker = await startPart('broker', settings, names.within)
  undo.push(broker.stop)
  const url = `http://127.0.0.1:${portOf(broker)}${PATH}`
  return { shot: keyShot(url), pid: broker.pid, databasePid: database?.pid ?? null }
}

async function startOurs(ground: Ground, variant: Variant): Promise<Ours> {
  const { directory, names, upstream, caFile, options, undo } = ground
  const cluster = variant === 'embedded' ? null : await ground.cluster()
  const env = {
    ...benchSettings(),
    ...(cluster ? await cluster.createDatabase() : { DATA_DIR: join(directory, 'data') }),
    RESOLVER_ALLOW_NETWORKS: '127.0.0.1/32',
    RESOLVER_CA_FILE: caFile,
  }
  const server = await startServer(env, names.within(commandOf(variant, env, options)))
  undo.push(server.stop)
  const customer = await registerCustomer(server)
  const domain = `${HOST}:${upstream.port}`
  const tokens = await employAgents(customer, { API_KEY }, domain, TOKENS)
  const databasePid = variant === 'no audit' ? null : (cluster?.pid ?? null)
  return { server, tokens, databasePid }
}

function commandOf(
  variant: Variant,
  env: Record<string, string>,
  { against, profile, executable }: FieldOptions,
): string[] {
  if (variant === 'no audit') return partCommand('no-audit', env)
  if (variant === 'the other checkout') return serverCommand({ directory: against })
  return serverCommand({ executable, profile: variant === 'PostgreSQL' ? profile : undefined })
}

function resolving({ upstream }: Ground, { server, tokens, databasePid }: Ours): Entrant {
  const body = JSON.stringify({
    target_url: `https://${HOST}:${upstream.port}${PATH}`,
    headers: { Authorization: 'Bearer SVC_SECRET_API_KEY' },
  })
  const shot: Shot = {
    url: `${server.resolver}/v1/resolve`,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    authorizations: tokens.map((token) => `Bearer ${token}`),
    body,
  }
  return { shot, pid: server.pid, databasePid }
}

/** As an SDK calls it: token and placeholder are its API key. */
function forwarding({ upstream }: Ground, { server, tokens, databasePid }: Ours): Entrant {
  const shot: Shot = {
    url: `${server.resolver}/v1/forward/${HOST}:${upstream.port}${PATH}`,
    method: 'GET',
    headers: {},
    authorizations: tokens.map((token) => `Bearer ${token}.SVC_SECRET_API_KEY`),
    body: null,
  }
  return { shot, pid: server.pid, databasePid }
}

function portOf({ ready }: Running): number {
  return Number(ready.port)
}

/** Nobody's failures are to be measured. */
async function checkAnswer({ name, shot }: Contestant): Promise<void> {
  const { url, method, headers, authorizations = [], body } = shot
  for (const authorization of authorizations.length > 0 ? authorizations : [undefined]) {
    const answer = await fetch(url, {
      method,
      headers: { ...headers, ...(authorization ? { authorization } : {}) },
      body,
      tls: { rejectUnauthorized: false },
    })
    const text = await answer.text()
    if (!answer.ok || !text.includes('ch_1001')) throw new Error(`${name} answers wrongly: ${text}`)
  }
}
