/** `bench secrets`: storing, listing and delivering a hundred secrets, and logging in, on both databases. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { authKey, deriveMasterKey } from '../../src/client/account/keys.ts'
import { openApi } from '../../src/client/http/api.ts'
import { fromBase64 } from '../../src/core/crypto/encoding.ts'
import { login, prelogin } from '../../src/features/accounts/contract.ts'
import { listSecrets } from '../../src/features/secrets/contract.ts'
import { deliverEnvironment } from '../../src/features/workloads/contract.ts'
import { startBenchCluster } from './cluster.ts'
import {
  type Customer,
  ENVIRONMENT,
  employAgents,
  PASSWORD,
  registerCustomer,
  storeSecrets,
} from './customer.ts'
import { applyLoad, type Shot } from './load.ts'
import { figure, markdownTable, median, timed } from './measure.ts'
import { cpuSeconds, startPart } from './processes.ts'
import { benchSettings, type Server, serverCommand, startServer } from './server.ts'

const COUNT = 100
/** Of one request, and of an import of four. */
const WRITTEN = [500, 2000] as const
const WRITES = ['new', 'new values']
const CONCURRENCY = 16

type Subject = {
  database: string
  server: Server
  customer: Customer
  token: string
  /** Where the writes are measured, by turns. */
  writers: { kind: string; customer: Customer }[]
}

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
  const wanted = new RegExp(values.only)
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
    if (wanted.test('store')) process.stdout.write(`${await benchWrites(subjects, rounds)}\n\n`)
    process.stdout.write(`${await benchReads(subjects, pace, wanted)}\n`)
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
  const plain = await registerCustomer(server, directory === undefined ? 'plain' : { directory })
  const signed = directory === undefined ? await registerCustomer(server, 'signed') : null
  const customer = signed ?? plain
  const [token = ''] = await employAgents(customer, valuesOf('first'), 'api.bench.example', 1)
  const kinds = { plain, ...(signed && { signed }) }
  const writers = Object.entries(kinds).map(([kind, customer]) => ({ kind, customer }))
  return { database, server, customer, token, writers }
}

function valuesOf(word: string, count = COUNT): Record<string, string> {
  const names = Array.from({ length: count }, (_, index) => `SECRET_${index}`)
  return Object.fromEntries(names.map((name) => [name, `${word}-${crypto.randomUUID()}`]))
}

/** New secrets in an environment of their own, then new values for all of them, sealed and sent by the client. */
async function benchWrites(subjects: readonly Subject[], rounds: number): Promise<string> {
  const writers = subjects.flatMap(({ database, writers }) =>
    writers.map(({ kind, customer }) => ({ name: `${database}, ${kind}`, customer })),
  )
  const samples = new Map<string, number[]>()
  for (let round = 0; round < rounds; round += 1) {
    // Who comes second finds the server warmer.
    for (const { name, customer } of round % 2 === 0 ? writers : writers.toReversed()) {
      for (const [column, took] of await writeAll(customer, round)) {
        samples.set(`${name}/${column}`, [...(samples.get(`${name}/${column}`) ?? []), took])
      }
    }
  }
  const columns = WRITTEN.flatMap((count) => WRITES.map((kind) => `${count} ${kind}`))
  const head = ['secrets stored, ms', ...columns]
  const rows = writers.map(({ name }) => [
    name,
    ...columns.map((column) => figure(median(samples.get(`${name}/${column}`) ?? []))),
  ])
  return markdownTable(head, rows)
}

async function writeAll(customer: Customer, round: number): Promise<[string, number][]> {
  const times: [string, number][] = []
  for (const count of WRITTEN) {
    for (const kind of WRITES) {
      const values = valuesOf(kind, count)
      const took = await timed(() => storeSecrets(customer, values, `round-${round}-${count}`))
      times.push([`${count} ${kind}`, took])
    }
  }
  return times
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
