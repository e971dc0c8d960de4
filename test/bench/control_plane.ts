/**
 * The control plane's table in `bench secrets`: each operation next to "bare", an Elysia route with one prepared statement
 * in its own process and database. Bare takes the same requests and returns as much, so the rest is our cost.
 */
import { getSecret, listSecrets, upsertSecrets } from '../../src/features/secrets/contract.ts'
import { startBenchCluster } from './cluster.ts'
import {
  COUNT,
  type Customer,
  ENVIRONMENT,
  headersOf,
  registerCustomer,
  storeSecrets,
  valuesOf,
} from './customer.ts'
import { drawProfile } from './flame_graph.ts'
import { bodyOf, type Shot } from './load.ts'
import { figure, markdownTable } from './measure.ts'
import { backendCpuSeconds, startPart } from './processes.ts'
import { benchSettings, serverCommand, startServer } from './server.ts'
import { openWriters, type Writer, writeSigned } from './signed_writes.ts'
import { CONCURRENCY, type Contestant, loadOf, type Pace, type Sample, takeTurns } from './turns.ts'

const KEY = 'SECRET_5'
const SIGNED = `write one secret, signed, ${CONCURRENCY} workspaces`

/** Bare's answers may be so much smaller or larger than ours. */
const TOLERANCE = 0.1

type Options = { against?: string | undefined; profile?: string | undefined; pace: Pace }

type Subject = {
  name: string
  origin: string
  pid: number
  databaseSeconds: () => number
  customer: Customer
  /** None for an older checkout, which has its own client. */
  writers: readonly Writer[]
}

/** The rows of the table that `--only` selects. */
export function controlPlaneOperations(only: RegExp): string[] {
  const operations = [...Object.keys(requests), SIGNED]
  return operations.filter((operation) => only.test(`control plane, ${operation}`))
}

export async function benchControlPlane(
  operations: readonly string[],
  { against, profile, pace }: Options,
): Promise<string> {
  await using stops = new AsyncDisposableStack()
  if (profile) stops.defer(() => drawProfile(profile, `${profile}.svg`, operations.join(', ')))
  const subjects = await startSubjects(stops, {
    against,
    profile,
    isSigned: operations.includes(SIGNED),
  })
  const rows: string[][] = []
  for (const operation of operations) {
    const contestants = await contestantsOf(operation, subjects)
    rows.push(...rowsOf(operation, contestants, await takeTurns(contestants, pace)))
  }
  const head = ['CPU µs', '× bare', 'database CPU µs', '× bare', 'p50 ms', '× bare', 'failures']
  return markdownTable([`control plane, ${CONCURRENCY} concurrent`, ...head], rows)
}

/** Bare is the last. */
async function startSubjects(
  stops: AsyncDisposableStack,
  { against, profile, isSigned }: Omit<Options, 'pace'> & { isSigned: boolean },
): Promise<Subject[]> {
  const cluster = await startBenchCluster()
  stops.defer(cluster.stop)
  const createDatabase = async () => {
    const database = await cluster.createDatabase()
    return { database, databaseSeconds: () => backendCpuSeconds(cluster.pid, database.DB_NAME) }
  }
  const start = async (name: string, directory?: string): Promise<Subject> => {
    const { database, databaseSeconds } = await createDatabase()
    const command = serverCommand(directory ? { directory } : { profile })
    const server = await startServer({ ...benchSettings(), ...database }, command)
    stops.defer(server.stop)
    const customer = await registerCustomer(server, directory ? { directory } : 'plain')
    await storeSecrets(customer, valuesOf('first'))
    const writers = isSigned && !directory ? await openWriters(server, CONCURRENCY, KEY) : []
    const { controlPlane: origin, pid } = server
    return { name, origin, pid, databaseSeconds, customer, writers }
  }
  const ours = await start('ours')
  const others = against ? [await start('other', against)] : []
  const { database, databaseSeconds } = await createDatabase()
  const { pid, ready, stop } = await startPart('store', database)
  stops.defer(stop)
  const origin = `http://127.0.0.1:${ready.port}`
  const writers = ours.writers.map((writer) => ({ ...writer }))
  const bare = { ...ours, name: 'bare', origin, pid, databaseSeconds, writers }
  for (const { key, value } of JSON.parse(await bodyOf(listingShot(ours, '&include=value'))).data) {
    await bodyOf(writingShot(bare, key, value))
  }
  return [ours, ...others, bare]
}

type Place = Pick<Subject, 'origin' | 'customer'>

const requests: Record<string, (place: Place) => Shot | Promise<Shot>> = {
  'read one secret': readingShot,
  [`list ${COUNT} names`]: (place) => listingShot(place),
  [`list ${COUNT} values`]: (place) => listingShot(place, '&include=value'),
  'write one secret': rewritingShot,
}

export function listingShot({ origin, customer }: Place, more = ''): Shot {
  const path = listSecrets.path.replace('{project_id}', customer.projectId)
  const url = `${origin}${path}?environment=${ENVIRONMENT}&limit=${COUNT}${more}`
  return { url, method: 'GET', headers: headersOf(customer), body: null }
}

function readingShot({ origin, customer }: Place): Shot {
  const path = getSecret.path.replace('{project_id}', customer.projectId).replace('{key}', KEY)
  const url = `${origin}${path}?environment=${ENVIRONMENT}`
  return { url, method: 'GET', headers: headersOf(customer), body: null }
}

function writingShot({ origin, customer }: Place, key: string, value: string): Shot {
  const { projectId } = customer
  const body = { project_id: projectId, environment: ENVIRONMENT, secrets: { [key]: value } }
  return {
    url: `${origin}${upsertSecrets.path}`,
    method: 'POST',
    headers: headersOf(customer),
    body: JSON.stringify(body),
  }
}

/** Stores the ciphertext that is stored already. */
async function rewritingShot(place: Place): Promise<Shot> {
  const { value } = JSON.parse(await bodyOf(readingShot(place))).data
  return writingShot(place, KEY, value)
}

async function contestantsOf(
  operation: string,
  subjects: readonly Subject[],
): Promise<Contestant[]> {
  const shotOf = requests[operation]
  if (!shotOf) {
    return subjects
      .filter(({ writers }) => writers.length > 0)
      .map(({ origin, writers, ...subject }) => ({
        ...subject,
        applyLoad: (seconds) => writeSigned(origin, writers, seconds),
      }))
  }
  const shots = await Promise.all(subjects.map(shotOf))
  const sizes = await Promise.all(shots.map(async (shot) => (await bodyOf(shot)).length))
  const [ours = 0, bare = 0] = [sizes[0], sizes.at(-1)]
  if (Math.abs(bare / ours - 1) > TOLERANCE) {
    throw new Error(`${operation}: bare returns ${bare} characters, ours ${ours}`)
  }
  return subjects.map((subject, index) => ({ ...subject, applyLoad: loadOf(shots[index]) }))
}

function rowsOf(
  operation: string,
  contestants: readonly Contestant[],
  samples: readonly Sample[],
): string[][] {
  const bare = samples.at(-1)
  return samples.map((sample, index) => [
    `${operation}, ${contestants[index]?.name}`,
    ...(['cpuUs', 'databaseUs', 'p50Ms'] as const).flatMap((column) => [
      figure(sample[column]),
      figure(sample[column] / (bare?.[column] ?? Number.NaN)),
    ]),
    figure(sample.failures),
  ])
}
