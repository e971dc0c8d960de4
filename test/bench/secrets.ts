/** `bench secrets` measures storing, listing and delivering a hundred secrets, and logging in, on both databases. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { authKey, deriveMasterKey } from '../../src/client/account/keys.ts'
import { openApi } from '../../src/client/http/api.ts'
import { fromBase64 } from '../../src/core/crypto/encoding.ts'
import { login, prelogin } from '../../src/features/accounts/contract.ts'
import { deliverEnvironment } from '../../src/features/workloads/contract.ts'
import { startBenchCluster } from './cluster.ts'
import { benchControlPlane, controlPlaneOperations, listingShot } from './control_plane.ts'
import {
  COUNT,
  type Customer,
  ENVIRONMENT,
  employAgents,
  PASSWORD,
  registerCustomer,
  storeSecrets,
  valuesOf,
} from './customer.ts'
import { bodyOf, type Shot } from './load.ts'
import { figure, markdownTable, median, timed } from './measure.ts'
import { startPart } from './processes.ts'
import { benchSettings, type Server, serverCommand, startServer } from './server.ts'
import { CONCURRENCY, type Contestant, loadOf, type Pace, type Result, takeTurns } from './turns.ts'

/** The numbers of secrets in one request, and in an import of four. */
const WRITTEN = [500, 2000] as const
const WRITES = ['new', 'new values']

type Subject = {
  database: string
  origin: string
  pid: number
  customer: Customer
  token: string
  /** Customers of the servers whose writes are measured in turns. */
  writers: { kind: string; customer: Customer }[]
}

const FULL = { rounds: '7', seconds: '2', warm: '8' }
const QUICK = { rounds: '1', seconds: '2', warm: '3' }

export async function benchSecrets(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      quick: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      warm: { type: 'string' },
      only: { type: 'string', default: '' },
      against: { type: 'string' },
      profile: { type: 'string' },
    },
  })
  const { rounds, seconds, warm } = { ...(values.quick ? QUICK : FULL), ...values }
  const pace = { rounds: Number(rounds), seconds: Number(seconds), warmSeconds: Number(warm) }
  const wanted = new RegExp(values.only)
  const operations = controlPlaneOperations(wanted)
  if (operations.length > 0) {
    process.stdout.write(`${await benchControlPlane(operations, { ...values, pace })}\n\n`)
  }
  if (['store', ...kinds.map(([kind]) => kind)].some((kind) => wanted.test(kind))) {
    await benchDatabases(wanted, pace, values.against)
  }
}

async function benchDatabases(wanted: RegExp, pace: Pace, against?: string): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'cr-bench-secrets-'))
  const cluster = await startBenchCluster()
  const checkouts = [undefined, ...(against ? [against] : [])]
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
    if (wanted.test('store'))
      process.stdout.write(`${await benchWrites(subjects, pace.rounds)}\n\n`)
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
  const { controlPlane: origin, pid } = server
  return { database, origin, pid, customer, token, writers }
}

/** New secrets in a separate environment, then new values for all of them, sealed and sent by the client. */
async function benchWrites(subjects: readonly Subject[], rounds: number): Promise<string> {
  const writers = subjects.flatMap(({ database, writers }) =>
    writers.map(({ kind, customer }) => ({ name: `${database}, ${kind}`, customer })),
  )
  const samples = new Map<string, number[]>()
  for (let round = 0; round < rounds; round += 1) {
    // The second writer uses a warmer server.
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

const kinds: [string, (subject: Subject) => Shot | Promise<Shot>][] = [
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
    const [first] = shots
    if (!first) continue
    const bare = await startPart('route', await bodyOf(first))
    const url = `http://127.0.0.1:${bare.ready.port}/`
    const contestants: Contestant[] = [
      ...subjects.map(({ database, pid }, index) => ({
        name: `${kind}, ${database}`,
        pid,
        applyLoad: loadOf(shots[index]),
      })),
      { name: `${kind}, bare route`, pid: bare.pid, applyLoad: loadOf({ ...first, url }) },
    ]
    try {
      rows.push(...(await takeTurns(contestants, pace)).map(rowOf))
    } finally {
      await bare.stop()
    }
  }
  const head = [`${CONCURRENCY} concurrent`, 'per s', 'p50 ms', 'p99 ms', 'CPU µs', 'failures']
  return markdownTable(head, rows)
}

function rowOf({ name, perSecond, p50Ms, p99Ms, cpuUs, failures }: Result): string[] {
  return [name, ...[perSecond, p50Ms, p99Ms, cpuUs, failures].map(figure)]
}

async function deliveryShot({ origin, customer, token }: Subject): Promise<Shot> {
  return {
    url: `${origin}${deliverEnvironment.path}`,
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ project_id: customer.projectId, environment: ENVIRONMENT }),
  }
}

async function loginShot({ origin, customer }: Subject): Promise<Shot> {
  const { email } = customer.session
  const api = openApi(origin)
  const { key_salt, kdf } = await api.call(prelogin, { body: { email } })
  const masterKey = await deriveMasterKey(PASSWORD, fromBase64(key_salt) ?? new Uint8Array(), kdf)
  return {
    url: `${origin}${login.path}`,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password: authKey(masterKey) }),
  }
}
