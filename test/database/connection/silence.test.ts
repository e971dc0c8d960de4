// tier: all
/**
 * The moment at which the pool closes a silent connection, counted in ticks of a timer, so that a process that was
 * suspended loses none. The server here is not PostgreSQL; test/security/packet_loss.test.ts uses the real one.
 */
import { afterEach, expect, test } from 'bun:test'
import type postgres from 'postgres'
import { createAuthority } from '../../../src/cli/demo/certificates.ts'
import { type Reach, socketTo } from '../../../src/database/connection/dial.ts'
import { openPool } from '../../../src/database/connection/pool.ts'
import {
  AUTHENTICATED,
  answerTo,
  type FalsePostgres,
  falsePostgres,
  message,
  READY,
  type Wire,
} from '../../support/false_postgres.ts'
import { until } from '../../support/until.ts'

const TICK_MS = 20
const SILENCE_MS = 26 * TICK_MS

type Server = FalsePostgres & {
  /** Messages of each connection, by number, beginning with 1, which is also its process ID. */
  said: Map<number, string[]>
  /** Connections up to this number get no more answers. */
  mute: number
  /** Sends the answers that were held back, and all later ones. */
  wake(): void
}

const opened: (() => unknown)[] = []
afterEach(async () => {
  for (const close of opened.splice(0)) await close()
})

type Options = { greeting?: (pid: number) => Buffer[]; tls?: { cert: string; key: string } }

async function serve({ greeting = greet, tls }: Options = {}): Promise<Server> {
  const said: Server['said'] = new Map()
  const kept: (() => void)[] = []
  const state = {
    mute: 0,
    said,
    wake: () => {
      state.mute = 0
      for (const send of kept.splice(0)) send()
    },
  }
  const speak = async (wire: Wire) => {
    const pid = said.size + 1
    const words: string[] = []
    said.set(pid, words)
    wire.write(...greeting(pid))
    for (;;) {
      const message = await wire.next()
      words.push(message.type)
      const answer = answerTo(message)
      if (pid > state.mute) wire.write(answer)
      else kept.push(() => wire.write(answer))
    }
  }
  const database = await falsePostgres(speak, tls ? { tls } : {})
  opened.push(database.close)
  return Object.assign(state, database)
}

const greet = (pid: number) => [AUTHENTICATED, message('K', pid, 1), READY]

type Settings = {
  size?: number
  tls?: Reach['tls']
  working?: (pids: number[]) => Promise<Set<number>>
}

function poolOf({ port }: Server, { size = 2, tls = false, working }: Settings = {}) {
  const places = [{ host: '127.0.0.1', port }]
  const options = {
    socket: socketTo({ places, tls, mayAskInClear: false }),
    user: 'us',
    database: 'any',
    fetch_types: false,
    backoff: () => 0,
    connect_timeout: 5,
    onnotice: () => {},
  }
  const sql = openPool(options, {
    size,
    isServing: true,
    tickMs: TICK_MS,
    working: working ?? none,
  })
  opened.push(() => sql.end({ timeout: 0 }))
  return sql
}

const none = () => Promise.resolve(new Set<number>())

const codeOf = (asked: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(asked).then(
    () => 'answered',
    (error: { code?: string }) => error.code,
  )

/** Two connections that have answered. */
async function bothOpen(sql: postgres.Sql, { said }: Server): Promise<void> {
  await Promise.all([sql`select 1`, sql`select 1`])
  expect([...said.keys()]).toEqual([1, 2])
}

/** The pool's own statement has no parameters and no answer: it is sent when a connection opens, and to an idle one. */
const wasPinged = (words: string[] | undefined) =>
  words?.filter((word) => word === 'Q').length === 2

test('an unanswered statement fails, and the next one has a new connection', async () => {
  const server = await serve()
  const sql = poolOf(server, { size: 1 })
  await sql`select 1`
  server.mute = 1
  expect(await codeOf(sql`select 1`)).toBe('CONNECTION_SILENT')
  expect(await codeOf(sql`select 1`)).toBe('answered')
  expect(server.count()).toBe(2)
})

test('an unanswered statement over TLS fails, and the next one has a new connection', async () => {
  const authority = await createAuthority('Authority of the database')
  const server = await serve({ tls: await authority.issue(['localhost']) })
  const sql = poolOf(server, {
    size: 1,
    tls: { isOptional: false, options: { rejectUnauthorized: false } },
  })
  await sql`select 1`
  server.mute = 1
  expect(await codeOf(sql`select 1`)).toBe('CONNECTION_SILENT')
  expect(await codeOf(sql`select 1`)).toBe('answered')
})

test('a connection is kept while its process is reported as active', async () => {
  const server = await serve()
  const asked: number[][] = []
  const working = (pids: number[]) => {
    asked.push(pids)
    if (asked.length === 4) server.wake()
    return Promise.resolve(new Set([1]))
  }
  const sql = poolOf(server, { size: 1, working })
  await sql`select 1`
  server.mute = 1
  expect(await codeOf(sql`select 1`)).toBe('answered')
  expect(asked).toEqual([[1], [1], [1], [1]])
})

test('an active process keeps no other connection open', async () => {
  const server = await serve()
  const sql = poolOf(server, { working: () => Promise.resolve(new Set([1])) })
  await bothOpen(sql, server)
  server.mute = 2
  const asked = [codeOf(sql`select 1`), codeOf(sql`select 1`)]
  const first = await Promise.race(asked)
  server.wake()
  expect([first, ...(await Promise.all(asked)).sort()]).toEqual([
    'CONNECTION_SILENT',
    'CONNECTION_SILENT',
    'answered',
  ])
})

test('a paused process does not treat its connections as silent after it resumes', async () => {
  const server = await serve()
  const sql = poolOf(server, { size: 1 })
  await sql`select 1`
  server.mute = 1
  const asked = codeOf(sql`select 1`)
  // The second statement ends with the second Sync.
  await until(() => server.said.get(1)?.filter((word) => word === 'S').length === 2)
  server.wake()
  Bun.sleepSync(2 * SILENCE_MS)
  expect(await asked).toBe('answered')
})

test('beside a silent connection, an idle one passes its check and is used', async () => {
  const server = await serve()
  const sql = poolOf(server)
  await bothOpen(sql, server)
  server.mute = 1
  const asked = [codeOf(sql`select 1`), codeOf(sql`select 1`)]
  await until(() => wasPinged(server.said.get(2)))
  expect(await codeOf(sql`select 1`)).toBe('answered')
  expect((await Promise.all(asked)).sort()).toEqual(['CONNECTION_SILENT', 'answered'])
  expect(server.count()).toBe(2)
})

test('an idle connection that fails its check gets no more statements, and they run on a new connection', async () => {
  const server = await serve()
  const sql = poolOf(server)
  await bothOpen(sql, server)
  server.mute = 2
  const silent = codeOf(sql`select 1`)
  const isPinged = () => [...server.said.values()].some(wasPinged)
  await until(isPinged)
  expect(await codeOf(sql`select 1`)).toBe('answered')
  expect(await silent).toBe('CONNECTION_SILENT')
})

test('a statement waits for a busy connection no longer than the connect timeout', async () => {
  const server = await serve()
  const sql = poolOf(server, { size: 1, working: () => Promise.resolve(new Set([1])) })
  await sql`select 1`
  server.mute = 1
  // Has its own connection: other statements are not sent behind it.
  const working = codeOf(sql.begin((tx) => tx`select 1`))
  expect(await codeOf(sql`select 1`)).toBe('CONNECT_TIMEOUT')
  server.wake()
  expect(await working).toBe('answered')
  expect(await codeOf(sql`select 1`)).toBe('answered')
})

test('a statement that waits for a new connection times out too, and is not sent later', async () => {
  const server = await serve({ greeting: (pid) => (pid === 1 ? [] : greet(pid)) })
  const sql = poolOf(server, { size: 1 })
  expect(await codeOf(sql`select 1`)).toBe('CONNECT_TIMEOUT')
  expect(server.said.get(1)).toEqual([])
})

test('a transaction with a lost connection sends nothing on the next one', async () => {
  const server = await serve()
  const sql = poolOf(server, { size: 1 })
  const goesOn = Promise.withResolvers<void>()
  const late = Promise.withResolvers<unknown>()
  const transaction = sql.begin(async (tx) => {
    server.mute = 1
    await codeOf(tx`select 1`)
    await goesOn.promise
    late.resolve(await codeOf(tx`select 1`))
  })
  expect(await codeOf(transaction)).toMatch(/^CONNECTION_/)
  await sql`select 1`
  const before = server.said.get(2)?.length
  goesOn.resolve()
  expect(await late.promise).toMatch(/^CONNECTION_/)
  expect(server.said.get(2)?.length).toBe(before)
})
