/** The contestants of `bench resolver`: the same upstream request in different ways. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAuthority } from '../../src/cli/demo/certificates.ts'
import type { Policy } from '../../src/core/policy/policy.ts'
import { type BenchCluster, startBenchCluster } from './cluster.ts'
import { employAgents, type Kind, registerCustomer, releaseWindows } from './customer.ts'
import type { Shot } from './load.ts'
import { type Names, serveNames } from './names.ts'
import { startNginx } from './nginx.ts'
import { type BrokerSettings, TOKEN_PATH, type UpstreamSettings } from './parts.ts'
import { partCommand, type Running, startPart, startProcess } from './processes.ts'
import { benchSettings, serverCommand, startServer } from './server.ts'

const HOST = 'api.bench.example'
const API_KEY = 'bench_live_9fT2wQm4Zr8Kc1Vx'
const PATH = '/v1/charges'
/** Agents that call, one after the other: a connection to an upstream belongs to one token. */
const TOKENS = 16

export type Contestant = {
  name: string
  shot: Shot
  /** The process whose CPU time counts: the upstream for direct calls. */
  pid: number
  /** The database server's main process, if there is one. */
  databasePid: number | null
  /** Ends the process, and starts another one on the same data. Returns when the start has begun. */
  restart(): Promise<number>
}

export type Field = { contestants: Contestant[]; clear(): Promise<void> }

export type FieldOptions = {
  /** Names of the contestants. */
  only: RegExp
  /** Another checkout of the product, measured in the same rounds. */
  against?: string | undefined
  /** The file for the CPU profile of the product's first process, written when it stops. */
  profile?: string | undefined
  /** An executable to use instead of the sources. */
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
  /** Steps to undo, last first. */
  undo: (() => unknown)[]
}

type Entrant = { launch(): Promise<Launched>; databasePid: number | null }
type Launched = { shot: Shot; pid: number; stop(): Promise<void> }
type Variant =
  | 'PostgreSQL'
  | 'plain'
  | 'derived'
  | 'held'
  | 'embedded'
  | 'no audit'
  | 'the other checkout'
/** Creates a load from the server's origin and the agents' tokens. */
type ShotOf = (upstream: string, resolver: string, tokens: readonly string[]) => Shot

const entrants: Record<string, (ground: Ground) => Promise<Entrant>> = {
  direct: enterDirect,
  nginx: enterNginx,
  'Go ReverseProxy': enterGo,
  'bare broker': enterBareBroker,
  'bare broker, PostgreSQL': (ground) => enterBareBroker(ground, 'recorded'),
  'ours, PostgreSQL': (ground) => enterOurs(ground, 'PostgreSQL', resolving),
  'ours, PostgreSQL, derived credential': (ground) => enterOurs(ground, 'derived', resolving),
  'ours, PostgreSQL, held secret in a window': (ground) => enterOurs(ground, 'held', resolving),
  'ours, PostgreSQL, plain workspace': (ground) => enterOurs(ground, 'plain', resolving),
  'ours, PostgreSQL, forward mode': (ground) => enterOurs(ground, 'PostgreSQL', forwarding),
  'ours, embedded': (ground) => enterOurs(ground, 'embedded', resolving),
  'ours, no audit': (ground) => enterOurs(ground, 'no audit', resolving),
}

const entrantsAgainst: typeof entrants = {
  'other, PostgreSQL': (ground) => enterOurs(ground, 'the other checkout', resolving),
  'other, PostgreSQL, forward mode': (ground) =>
    enterOurs(ground, 'the other checkout', forwarding),
}

/** Starts every contestant with a matching name. */
export async function gather(options: FieldOptions): Promise<Field> {
  const ground = await prepareGround(options)
  const clear = async () => {
    for (const step of ground.undo.reverse()) await step()
  }
  const contestants: Contestant[] = []
  const all = { ...entrants, ...(options.against ? entrantsAgainst : {}) }
  try {
    for (const [name, enter] of Object.entries(all)) {
      if (options.only.test(name)) contestants.push(await launch(ground, name, await enter(ground)))
    }
    for (const contestant of contestants) await checkAnswer(contestant)
  } catch (error) {
    await clear()
    throw error
  }
  return { contestants, clear }
}

async function launch({ undo }: Ground, name: string, entrant: Entrant): Promise<Contestant> {
  let launched = await entrant.launch()
  undo.push(() => launched.stop())
  return {
    name,
    databasePid: entrant.databasePid,
    get shot() {
      return launched.shot
    },
    get pid() {
      return launched.pid
    },
    restart: async () => {
      await launched.stop()
      const startedAt = performance.now()
      launched = await entrant.launch()
      return startedAt
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
  return {
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
    undo,
  }
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make()
    return made
  }
}

/** nginx and the bare broker get the key, because they only pass it on. */
function keyShot(url: string): Shot {
  return { url, method: 'GET', headers: { authorization: `Bearer ${API_KEY}` }, body: null }
}

async function enterDirect({ upstream }: Ground): Promise<Entrant> {
  const shot = keyShot(`https://127.0.0.1:${upstream.port}${PATH}`)
  const launched = { shot, pid: upstream.pid, stop: async () => {} }
  return { launch: async () => launched, databasePid: null }
}

async function enterNginx({ directory, names, upstream, caFile }: Ground): Promise<Entrant> {
  const launch = async () => {
    const nginx = await startNginx(directory, { ...upstream, caFile }, names)
    return { ...nginx, shot: keyShot(`${nginx.origin}${PATH}`) }
  }
  return { launch, databasePid: null }
}

/** @throws Error if Go is not installed */
async function enterGo({ directory, names, upstream, caFile }: Ground): Promise<Entrant> {
  const go = Bun.which('go', { PATH: `${process.env.PATH}:/usr/local/go/bin` })
  if (!go) throw new Error('Go is not installed')
  const program = join(directory, 'go_proxy')
  const source = join(import.meta.dir, 'go_proxy.go')
  const built = Bun.spawnSync([go, 'build', '-o', program, source])
  if (!built.success) throw new Error(`go build failed: ${built.stderr}`)
  const origin = `https://${upstream.host}:${upstream.port}`
  const ready = /^listening on (?<port>\d+)$/m
  const launch = async () =>
    listening(await startProcess(names.within([program, origin, caFile]), { ready }))
  return { launch, databasePid: null }
}

async function enterBareBroker(
  { names, upstream, ca, cluster }: Ground,
  recorded?: 'recorded',
): Promise<Entrant> {
  const database = recorded && (await cluster())
  const settings: BrokerSettings = {
    host: upstream.host,
    port: upstream.port,
    ca,
    ...(database ? { database: await database.createDatabase() } : {}),
  }
  const launch = async () => listening(await startPart('broker', settings, names.within))
  return { launch, databasePid: database?.pid ?? null }
}

function listening(running: Running): Launched {
  return { ...running, shot: keyShot(`http://127.0.0.1:${portOf(running)}${PATH}`) }
}

/** One server for each way of calling: code that is called both ways in turn would be compiled again each time. */
async function enterOurs(
  { directory, names, upstream, caFile, options, cluster: start }: Ground,
  variant: Variant,
  shotOf: ShotOf,
): Promise<Entrant> {
  const cluster = variant === 'embedded' ? null : await start()
  const env = {
    ...benchSettings(),
    ...(cluster ? await cluster.createDatabase() : { DATA_DIR: join(directory, 'data') }),
    RESOLVER_ALLOW_NETWORKS: '127.0.0.1/32',
    RESOLVER_CA_FILE: caFile,
  }
  const domain = `${HOST}:${upstream.port}`
  let tokens: string[] | null = null
  const launch = async () => {
    const server = await startServer(env, names.within(commandOf(variant, env, options)))
    const customer = await registerCustomer(server, kindOf(variant, options))
    const { value, policy } = secretOf(variant, domain)
    tokens ??= await employAgents(customer, { API_KEY: value }, domain, TOKENS, policy)
    const shot = shotOf(domain, server.resolver, tokens)
    if (variant === 'held') await releaseWindows(customer, shot, { host: domain, path: PATH })
    return { ...server, shot }
  }
  return { launch, databasePid: variant === 'no audit' ? null : (cluster?.pid ?? null) }
}

function secretOf(variant: Variant, domain: string): { value: string; policy: Policy | null } {
  if (variant === 'derived') return { value: rootAt(domain), policy: { kind: 'oauth2' } }
  const approval = { by: 'member', ttl_seconds: 3_600 } as const
  return { value: API_KEY, policy: variant === 'held' ? { approval } : null }
}

/** The upstream's key is derived from this. */
function rootAt(domain: string): string {
  const client = { client_id: 'bench', client_secret: 'bench-secret-of-a-client' }
  return JSON.stringify({ token_url: `https://${domain}${TOKEN_PATH}`, ...client })
}

/** Another checkout may be older than signed workspaces. */
function kindOf(variant: Variant, { against }: FieldOptions): Kind {
  if (variant === 'the other checkout' && against) return { directory: against }
  return variant === 'plain' ? 'plain' : 'signed'
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

function resolving(upstream: string, resolver: string, tokens: readonly string[]): Shot {
  const body = JSON.stringify({
    target_url: `https://${upstream}${PATH}`,
    headers: { Authorization: 'Bearer SVC_SECRET_API_KEY' },
  })
  return {
    url: `${resolver}/v1/resolve`,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    authorizations: tokens.map((token) => `Bearer ${token}`),
    body,
  }
}

/** Calls the way an SDK does: token and placeholder are its API key. */
function forwarding(upstream: string, resolver: string, tokens: readonly string[]): Shot {
  return {
    url: `${resolver}/v1/forward/${upstream}${PATH}`,
    method: 'GET',
    headers: {},
    authorizations: tokens.map((token) => `Bearer ${token}.SVC_SECRET_API_KEY`),
    body: null,
  }
}

function portOf({ ready }: Running): number {
  return Number(ready.port)
}

/** Fails if a contestant fails, so that failures are not measured. */
async function checkAnswer({ name, shot }: Contestant): Promise<void> {
  for (let call = 0; call < (shot.authorizations?.length ?? 1); call += 1) {
    const text = await fire(shot, call)
    if (!text.includes('ch_1001')) throw new Error(`${name} answers wrongly: ${text}`)
  }
}

/** One call with the next authorization in turn. */
export async function fire(
  { url, method, headers, authorizations, body }: Shot,
  call = 0,
): Promise<string> {
  const authorization = authorizations?.[call % authorizations.length]
  const answer = await fetch(url, {
    method,
    headers: { ...headers, ...(authorization ? { authorization } : {}) },
    body,
    tls: { rejectUnauthorized: false },
  })
  return answer.text()
}
