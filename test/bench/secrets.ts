/** `bench secrets`: storing, listing and delivering a hundred secrets, and logging in, on both databases. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { authKey, deriveMasterKey } from '../../src/client/account/keys.ts'
import { openApi } from '../../src/client/api.ts'
import { login, prelogin } from '../../src/features/accounts/contract.ts'
import { listSecrets, upsertSecrets } from '../../src/features/secrets/contract.ts'
import { deliverEnvironment } from '../../src/features/workloads/contract.ts'
import { fromBase64 } from '../../src/platform/crypto/encoding.ts'
import { startBenchCluster } from './cluster.ts'
import { applyLoad, type Shot } from './load.ts'
import { figure, markdownTable, median, timed } from './measure.ts'
import { cpuSeconds, startPart } from './processes.ts'
import {
  benchSettings,
  type Customer,
  ENVIRONMENT,
  employAgent,
  PASSWORD,
  registerCustomer,
  type Server,
  sealedSecrets,
  serverCommand,
  startServer,
} from './server.ts'

const COUNT = 100
const CONCURRENCY = 16
const NAMES = Array.from({ length: COUNT }, (_, index) => `SECRET_${index}`)

type Subject = { database: string; server: Server; customer: Customer; token: string }

export async function benchSecrets(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      rounds: { type: 'string', default: '7' },
      seconds: { type: 'string', default: '2' },
      warm: { type: 'string', default: '8' },
      only: { type: 'string', default: '' },
      against: { type: 'string' },
    },
  })
  const rounds = Number(values.rounds)
  const pace = { rounds, seconds: Number(values.seconds), warmSeconds: Number(values.warm) }
  const directory = mkdtempSync(join(tmpdir(), 'cr-bench-secrets-'))
  const cluster = await startBenchCluster()
  const checkouts = [undefined, ...(values.against ? [values.against] : [])]
  const servers: Server[] = []
  const subjects: Subject[] = []
  try {
    for (const checkout of checkouts) {
      const other = checkout ? 'other, ' : ''
      const databases = {
        PostgreSQL: await cluster.createDatabase(),
        embedded: { DATA_DIR: join(directory, `${other}data`) },
      }
      for (const [database, settings] of Object.entries(databases)) {
        const env = { ...benchSettings(), ...settings }
        const server = await startServer(env, serverCommand({ directory: checkout }))
        servers.push(server)
        subjects.push(await prepare(`${other}${database}`, server, checkout))
      }
    }
    if (!values.only) process.stdout.write(`${await benchUpsert(subjects, rounds)}\n\n`)
    process.stdout.write(`${await benchReads(subjects, pace, new RegExp(values.only))}\n`)
  } finally {
    for (const server of servers) await server.stop()
    await cluster.stop()
    rmSync(directory, { recursive: true, force: true })
  }
}

async function prepare(
  database: string,
  server: Server,
  directory: string | undefined,
): Promise<Subject> {
  const customer = await registerCustomer(server, directory)
  const token = await employAgent(customer, valuesOf('first'), 'api.bench.example')
  return { database, server, customer, token }
}

function valuesOf(word: string): Record<string, string> {
  return Object.fromEntries(NAMES.map((name) => [name, `${word}-${crypto.randomUUID()}`]))
}

/** New secrets in an environment of their own, then new values for all of them. */
async function benchUpsert(subjects: readonly Subject[], rounds: number): Promise<string> {
  const samples = subjects.map(() => ({ create: [] as number[], update: [] as number[] }))
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, { customer }] of subjects.entries()) {
      const { api } = customer.session
      for (const kind of ['create', 'update'] as const) {
        const environment = `round-${round}`
        const body = sealedSecrets(customer, valuesOf(kind), environment)
        samples[index]?.[kind].push(await timed(() => api.call(upsertSecrets, { body })))
      }
    }
  }
  const head = [`upsert of ${COUNT} secrets, ms`, 'new', 'new values']
  const rows = subjects.map(({ database }, index) => [
    database,
    figure(median(samples[index]?.create ?? [])),
    figure(median(samples[index]?.update ?? [])),
  ])
  return markdownTable(head, rows)
}

type Reader = { name: string; shot: Shot; pid: number }
type Pace = { rounds: number; seconds: number; warmSeconds: number }

const kinds: [string, (subject: Subject) => Promise<Shot>][] = [
  [`list ${COUNT} names`, (subject) => listingShot(subject)],
  [`list ${COUNT} values`, (subject) => listingShot(subject, '&include=value')],
  [`deliver ${COUNT}`, deliveryShot],
  ['log in', loginShot],
]

async function benchReads(
  subjects: readonly Subject[],
  pace: Pace,
  wanted: RegExp,
): Promise<string> {
  const rows: string[][] = []
  for (const [kind, shotOf] of kinds.filter(([kind]) => wanted.test(kind))) {
    const shots = await Promise.all(subjects.map(shotOf))
    const bare = await startPart('route', await bodyOf(shots[0]))
    const url = `http://127.0.0.1:${bare.ready.port}/`
    const readers: Reader[] = [
      ...subjects.map(({ database, server }, index) => ({
        name: `${kind}, ${database}`,
        shot: shots[index] as Shot,
        pid: server.pid,
      })),
      {
        name: `${kind}, bare route`,
        shot: { ...(shots[0] as Shot), url },
        pid: bare.pid,
      },
    ]
    try {
      rows.push(...(await compare(readers, pace)))
    } finally {
      await bare.stop()
    }
  }
  const head = [`${CONCURRENCY} concurrent`, 'per s', 'p50 ms', 'p99 ms', 'CPU µs', 'failures']
  return markdownTable(head, rows)
}

async function compare(
  readers: readonly Reader[],
  { rounds, seconds, warmSeconds }: Pace,
): Promise<string[][]> {
  const samples = readers.map(() => [] as number[][])
  // The compiler is still busy for some seconds of load.
  for (const { shot } of readers) {
    await applyLoad({ shot, concurrency: CONCURRENCY, seconds: warmSeconds })
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, { shot, pid }] of readers.entries()) {
      const before = cpuSeconds(pid)
      const result = await applyLoad({ shot, concurrency: CONCURRENCY, seconds })
      const cpuUs = ((cpuSeconds(pid) - before) * 1e6) / result.requests
      const { requests, p50Ms, p99Ms, failures } = result
      samples[index]?.push([requests / result.seconds, p50Ms, p99Ms, cpuUs, failures])
    }
  }
  return readers.map(({ name }, index) => [
    name,
    ...[0, 1, 2, 3, 4].map((column) =>
      figure(median((samples[index] ?? []).map((sample) => sample[column] ?? Number.NaN))),
    ),
  ])
}

async function listingShot({ server, customer }: Subject, more = ''): Promise<Shot> {
  const path = listSecrets.path.replace('{project_id}', customer.projectId)
  const query = `environment=${ENVIRONMENT}&limit=${COUNT}${more}`
  const headers = { authorization: `Bearer ${customer.session.access}` }
  return { url: `${server.controlPlane}${path}?${query}`, method: 'GET', headers, body: null }
}

async function deliveryShot({ server, customer, token }: Subject): Promise<Shot> {
  return {
    url: `${server.controlPlane}${deliverEnvironment.path}`,
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ project_id: customer.projectId, environment: ENVIRONMENT }),
  }
}

async function loginShot({ server, customer }: Subject): Promise<Shot> {
  const { email } = customer.session
  const api = openApi(server.controlPlane)
  const { key_salt, kdf } = await api.call(prelogin, { body: { email } })
  const masterKey = await deriveMasterKey(PASSWORD, fromBase64(key_salt) ?? new Uint8Array(), kdf)
  return {
    url: `${server.controlPlane}${login.path}`,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password: authKey(masterKey) }),
  }
}

/** @throws Error for a refusal: nobody's failures are to be measured */
async function bodyOf(shot: Shot | undefined): Promise<string> {
  if (!shot) return ''
  const { url, method, headers, body } = shot
  const answer = await fetch(url, { method, headers, body })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${url} answers ${answer.status}: ${text}`)
  return text
}
