/**
 * The control plane's table in `bench secrets`: each operation next to "bare", an Elysia route with one prepared
 * statement in its own process and database. Bare accepts the same requests and returns as much, so the difference is
 * the product's cost.
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
import { openWriters, writeSigned } from './signed_writes.ts'
import { CONCURRENCY, type Contestant, loadOf, type Pace, type Result, takeTurns } from './turns.ts'

const KEY = 'SECRET_5'
const SIGNED = `write one secret, signed, ${CONCURRENCY} workspaces`

/** How much smaller or larger bare's answers may be than the product's. */
const TOLERANCE = 0.1

type Options = { against?: string | undefined; profile?: string | undefined; pace: Pace }

type Subject = {
  name: string
  origin: string
  pid: number
  databaseSeconds: () => number
  customer: Customer
}

/** Bare and the product, then the other checkout. */
type Subjects = [Subject, Subject, ...Subject[]]

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
  const subjects = await startSubjects(stops, { against, profile })
  const rows: string[][] = []
  for (const operation of operations) {
    const contestants = await contestantsOf(operation, subjects)
    rows.push(...rowsOf(operation, await takeTurns(contestants, pace)))
  }
  const head = ['CPU µs', '× bare', 'database CPU µs', '× bare', 'p50 ms', '× bare', 'failures']
  return markdownTable([`control plane, ${CONCURRENCY} concurrent`, ...head], rows)
}

async function startSubjects(
  stops: AsyncDisposableStack,
  { against, profile }: Omit<Options, 'pace'>,
): Promise<Subjects> {
  const cluster = await startBenchCluster()
  stops.defer(cluster.stop)
  const createDatabase = async () => {
    const settings = await cluster.createDatabase()
    return { settings, databaseSeconds: () => backendCpuSeconds(cluster.pid, settings.DB_NAME) }
  }
  const start = async (name: string, directory?: string): Promise<Subject> => {
    const { settings, databaseSeconds } = await createDatabase()
    const command = serverCommand(directory ? { directory } : { profile })
    const server = await startServer({ ...benchSettings(), ...settings }, command)
    stops.defer(server.stop)
    const customer = await registerCustomer(server, directory ? { directory } : 'plain')
    await storeSecrets(customer, valuesOf('first'))
    return { name, origin: server.controlPlane, pid: server.pid, databaseSeconds, customer }
  }
  const ours = await start('ours')
  const others = against ? [await start('other', against)] : []
  const { settings, databaseSeconds } = await createDatabase()
  const { pid, ready, stop } = await startPart('store', settings)
  stops.defer(stop)
  const origin = `http://127.0.0.1:${ready.port}`
  const bare = { ...ours, name: 'bare', origin, pid, databaseSeconds }
  for (const { key, value } of JSON.parse(await bodyOf(listingShot(ours, '&include=value'))).data) {
    await bodyOf(writingShot(bare, key, value))
  }
  return [bare, ours, ...others]
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

/** Stores the ciphertext that is already stored. */
async function rewritingShot(place: Place): Promise<Shot> {
  const { value } = JSON.parse(await bodyOf(readingShot(place))).data
  return writingShot(place, KEY, value)
}

async function contestantsOf(operation: string, subjects: Subjects): Promise<Contestant[]> {
  const shotOf = requests[operation]
  if (!shotOf) return signedContestants(subjects)
  const shots = await Promise.all(subjects.map(shotOf))
  const sizes = await Promise.all(shots.map(async (shot) => (await bodyOf(shot)).length))
  const [bare = 0, ours = 0] = sizes
  if (Math.abs(bare / ours - 1) > TOLERANCE) {
    throw new Error(`${operation}: bare returns ${bare} characters, ours ${ours}`)
  }
  return subjects.map((subject, index) => ({ ...subject, applyLoad: loadOf(shots[index]) }))
}

/** The other checkout is left out, because this client may not sign what its server accepts. */
async function signedContestants([bare, ours]: Subjects): Promise<Contestant[]> {
  const writers = await openWriters({ controlPlane: ours.origin }, CONCURRENCY, KEY)
  return [bare, ours].map(({ origin, ...subject }) => {
    const own = writers.map((writer) => ({ ...writer }))
    return { ...subject, applyLoad: (seconds) => writeSigned(origin, own, seconds) }
  })
}

function rowsOf(operation: string, results: readonly Result[]): string[][] {
  const [bare] = results
  return results.map((result) => [
    `${operation}, ${result.name}`,
    ...(['cpuUs', 'databaseUs', 'p50Ms'] as const).flatMap((column) => [
      figure(result[column]),
      figure(result[column] / (bare?.[column] ?? Number.NaN)),
    ]),
    figure(result.failures),
  ])
}
