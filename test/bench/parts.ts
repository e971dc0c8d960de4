/** Parts of the benches that run as separate processes: `bench part <name> <settings as JSON>`. */
import type { AuditTrail as Trail } from '../../src/audit/trail.ts'
import type { LoadPlan } from './load.ts'
import { recordCalls } from './record.ts'

const parts: Record<string, (settings: never) => Promise<void>> = {
  upstream: serveUpstream,
  broker: serveBroker,
  'no-audit': serveWithoutAudit,
  route: serveRoute,
  store: serveStore,
  load: generate,
  record: recordCalls,
}

export async function runPart(name: string, settings: string): Promise<void> {
  await parts[name]?.(JSON.parse(settings) as never)
}

export type UpstreamSettings = { cert: string; key: string; authorization: string }

/** Issues the key as an access token. */
export const TOKEN_PATH = '/token'
/** The time that /slow waits before it answers. */
const SLOW_MS = 1_000

const ANSWER_BYTES = 500

/** An API over TLS 1.3 that returns 500 bytes to callers with the key. */
async function serveUpstream({ cert, key, authorization }: UpstreamSettings): Promise<void> {
  const item = answerOf(ANSWER_BYTES)
  const headers = { 'content-type': 'application/json' }
  const token = { access_token: authorization.replace('Bearer ', ''), expires_in: 86_400 }
  const answer = (request: Request) =>
    request.headers.get('authorization') === authorization
      ? new Response(item, { headers })
      : new Response('{"error":"unauthorised"}', { status: 401, headers })
  listen({
    tls: { cert, key },
    // The bench does not measure which connections survive an idle minute.
    idleTimeout: 0,
    fetch: (request) => {
      if (request.url.endsWith(TOKEN_PATH)) return Response.json(token)
      return request.url.endsWith('/slow')
        ? Bun.sleep(SLOW_MS).then(() => answer(request))
        : answer(request)
    },
  })
}

/** Answers the way a payment API does. */
function answerOf(bytes: number): string {
  const charge = {
    id: 'ch_1001',
    object: 'charge',
    amount: 4200,
    currency: 'eur',
    paid: true,
    created: 1_763_800_000,
    customer: 'cus_9s6XKzkNRiz8i3',
    receipt_url: 'https://pay.bench.example/receipts/ch_1001',
    payment_method_details: {
      type: 'card',
      card: { brand: 'visa', last4: '4242', exp_year: 2030 },
    },
    description: '',
  }
  const missing = bytes - JSON.stringify(charge).length
  const words = 'A bicycle with lights and two bags, to be fetched at the shop. '
  charge.description = words.repeat(Math.ceil(missing / words.length)).slice(0, missing)
  return JSON.stringify(charge)
}

export type BrokerSettings = {
  host: string
  port: number
  ca: string
  /** The database that records each request before it is sent; optional. */
  database?: Record<string, string>
}

/** A minimal broker on this runtime: Bun.serve in front, fetch behind, no checks. */
async function serveBroker({ host, port, ca, database }: BrokerSettings): Promise<void> {
  const session = new Bun.FetchSession({ tls: { ca, rejectUnauthorized: true } })
  const record = database ? await openRecord(database) : async () => {}
  listen({
    fetch: async (request) => {
      await record()
      const headers = new Headers(request.headers)
      headers.set('host', `${host}:${port}`)
      const { pathname } = new URL(request.url)
      const init = { method: request.method, headers, session, proxy: false, decompress: false }
      const answer = await fetch(`https://${host}:${port}${pathname}`, init as RequestInit)
      return new Response(await answer.bytes(), { status: answer.status, headers: answer.headers })
    },
  })
}

/** A minimal durable record: waiting requests share one row, and one commit. */
async function openRecord(database: Record<string, string>): Promise<() => Promise<void>> {
  const sql = await connect(database, 1)
  await sql`create table if not exists records (ids text)`
  let waiting: { id: string; done: () => void }[] = []
  let writing = false
  const write = async () => {
    writing = true
    while (waiting.length > 0) {
      const group = waiting
      waiting = []
      await sql`insert into records values (${group.map(({ id }) => id).join()})`
      for (const { done } of group) done()
    }
    writing = false
  }
  return () =>
    new Promise((done) => {
      waiting.push({ id: Bun.randomUUIDv7(), done })
      if (!writing && waiting.length === 1) setImmediate(write)
    })
}

async function connect(
  { DB_HOST = '', DB_NAME = '', DB_USER = '' }: Record<string, string>,
  max: number,
) {
  const { default: postgres } = await import('postgres')
  return postgres({ host: DB_HOST, database: DB_NAME, user: DB_USER, max })
}

/** The product with a trail that records nothing, which shows the cost without the audit. */
async function serveWithoutAudit(env: Record<string, string>): Promise<void> {
  const { AuditTrail } = await import('../../src/audit/trail.ts')
  Object.assign(AuditTrail.prototype, {
    record: async () => 'recorded',
    conclude: () => {},
  } satisfies Pick<Trail, 'record' | 'conclude'>)
  const { startApp } = await import('../../src/server/app.ts')
  const { readConfig } = await import('../../src/core/config/config.ts')
  const { openLog } = await import('../../src/core/log.ts')
  const config = readConfig(env, () => ({ SECRET_KEY: '', ENCRYPTION_KEY: '' }))
  const app = await startApp(config, { log: openLog('info'), onFailure: () => process.exit(1) })
  process.stdout.write(`  control plane  ${app.controlPlane}\n  resolver       ${app.resolver}\n`)
}

/** An Elysia route that answers the given text, and does nothing else. */
async function serveRoute(text: string): Promise<void> {
  const { Elysia } = await import('elysia')
  const headers = { 'content-type': 'application/json' }
  const app = new Elysia().all('/', () => new Response(text, { headers }), { parse: 'none' })
  announce(Number(app.listen({ hostname: '127.0.0.1', port: 0 }).server?.port))
}

/** A minimal secret store: one route and one prepared statement per request, no checks. */
async function serveStore(database: Record<string, string>): Promise<void> {
  const { Elysia } = await import('elysia')
  const sql = await connect(database, 10)
  await sql`create table secrets (id uuid, project_id uuid, environment text, key text, value text, policy json,
    version integer, created_at timestamptz default now(), updated_at timestamptz default now(),
    primary key (project_id, environment, key))`
  const app = new Elysia()
    .get('/api/secrets/:project/:key/', async ({ params: { project, key }, query }) => {
      const [data] = await sql`
        select id, key, environment, value, policy, version, created_at, updated_at
        from secrets where project_id = ${project} and environment = ${query.environment ?? ''} and key = ${key}`
      return { status: 'success', data }
    })
    .get('/api/secrets/:project/', async ({ params: { project }, query }) => {
      const environment = query.environment ?? ''
      const data =
        query.include === 'value'
          ? await sql`select id, key, environment, value, policy, version, created_at, updated_at
              from secrets where project_id = ${project} and environment = ${environment} order by key`
          : await sql`select id, key, environment, policy, version, created_at, updated_at
              from secrets where project_id = ${project} and environment = ${environment} order by key`
      return { status: 'success', data }
    })
    .post('/api/secrets/', async ({ body }) => {
      const { project_id, environment, secrets } = body as Upsert
      const [[key, value] = ['', '']] = Object.entries(secrets)
      await sql`insert into secrets (id, project_id, environment, key, value, version)
        values (${Bun.randomUUIDv7()}, ${project_id}, ${environment}, ${key}, ${value}, 1)
        on conflict (project_id, environment, key) do update set value = excluded.value, version = secrets.version + 1`
      return { status: 'success', data: { created: 0, updated: 1 } }
    })
    .listen({ hostname: '127.0.0.1', port: 0 })
  announce(Number(app.server?.port))
}

type Upsert = { project_id: string; environment: string; secrets: Record<string, string> }

async function generate(plan: LoadPlan): Promise<void> {
  const { generateLoad } = await import('./load_client.ts')
  process.stdout.write(`result ${JSON.stringify(await generateLoad(plan))}\n`)
  process.exit()
}

type Handler = {
  tls?: { cert: string; key: string }
  idleTimeout?: number
  fetch: (request: Request) => Response | Promise<Response>
}

function listen(handler: Handler): void {
  announce(Bun.serve({ hostname: '127.0.0.1', port: 0, ...handler }).port ?? 0)
}

function announce(port: number): void {
  process.stdout.write(`listening on ${port}\n`)
}
