// tier: all
/**
 * A fake PostgreSQL server, reached by DNS or on the network path. It receives no password, is rejected without the final
 * proof of SCRAM, cannot fill the memory with one message, and is not tried hundreds of times a second. Only TLS with
 * verify-full prevents more (docs/internals/threat-model.md, "Attackers").
 */
import { afterEach, describe, expect, test } from 'bun:test'
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { createAuthority } from '../../src/cli/demo/certificates.ts'
import { readConfig } from '../../src/core/config/config.ts'
import { describeError, openLog } from '../../src/core/log.ts'
import { openPool } from '../../src/database/connection/pool.ts'
import { unavailableFault } from '../../src/database/errors.ts'
import { openDatabase, serverOptions } from '../../src/database/open.ts'
import { awaitServer } from '../../src/database/reach.ts'
import { marked } from '../support/canary.ts'
import { preparedDatabase } from '../support/database.ts'
import {
  AUTHENTICATED,
  answerAll,
  errorMessage,
  type FalsePostgres,
  falsePostgres,
  message,
  READY,
  type Wire,
} from '../support/false_postgres.ts'
import { requires } from '../support/requires.ts'

/** This machine, by an address that does not look local. */
const ELSEWHERE = '127.1'
const PASSWORD = marked('database-password-')
const KEYS = { SECRET_KEY: 'k'.repeat(36), ENCRYPTION_KEY: Buffer.alloc(32).toString('base64url') }

const opened: (() => unknown)[] = []
afterEach(async () => {
  for (const close of opened.splice(0)) await close()
})

async function answering(...args: Parameters<typeof falsePostgres>): Promise<FalsePostgres> {
  const database = await falsePostgres(...args)
  opened.push(database.close)
  return database
}

function configOf({ port }: FalsePostgres, settings: Record<string, string> = {}) {
  const place = { DB_HOST: ELSEWHERE, DB_PORT: String(port), DB_NAME: 'cloakroom', DB_USER: 'us' }
  const env = { ...KEYS, ...place, DB_PASSWORD: PASSWORD, DB_WAIT_SECONDS: '0', ...settings }
  return readConfig(env, () => KEYS)
}

/** A pool like the server's, unless with fewer connections. */
function poolOf(database: FalsePostgres, settings: Record<string, string> = {}, max = 1) {
  const config = configOf(database, settings)
  const sql = postgres({ ...serverOptions(config, config.DB_HOST ?? ''), max })
  opened.push(() => sql.end({ timeout: 0 }))
  return sql
}

async function failureOf(work: PromiseLike<unknown>): Promise<Error & { code?: string }> {
  try {
    await work
  } catch (error) {
    if (error instanceof Error) return error
  }
  throw new Error('it did not fail')
}

const codeOf = async (work: PromiseLike<unknown>) => (await failureOf(work)).code

/** The start's messages and warnings. */
async function startOf(database: FalsePostgres, settings: Record<string, string> = {}) {
  const lines: string[] = []
  const log = openLog('warning', (line) => lines.push(line))
  const said = await awaitServer(configOf(database, settings), log).then(() => 'reached', String)
  return { said, lines }
}

describe('a request for the password in plain text', () => {
  const asked = async (wire: Wire) => {
    wire.write(message('R', 3))
    await wire.next()
    wire.write(AUTHENTICATED, READY)
    await answerAll(wire)
  }
  const IN_CLEAR = 'DB_SSLMODE: the PostgreSQL server requested a cleartext password'

  test.each(['disable', 'allow', 'prefer'])(
    'a plain password request is not answered with DB_SSLMODE %s',
    async (DB_SSLMODE) => {
      const database = await answering(asked)
      const settings = { DB_SSLMODE }
      // Immediately, however long a start may wait.
      const waiting = { ...settings, DB_WAIT_SECONDS: '60' }
      expect((await startOf(database, waiting)).said).toContain(IN_CLEAR)
      const refused = await failureOf(poolOf(database, settings)`select 1`)
      expect(describeError(refused)).toMatchObject({ code: 'CONNECTION_CLEAR_PASSWORD' })
      expect(unavailableFault(refused)?.code).toBe('unavailable')
      expect(database.received().includes(PASSWORD)).toBe(false)
    },
  )

  test('a plain password request is answered only under a verified certificate', async () => {
    const home = mkdtempSync(join(tmpdir(), 'cr-false-database-'))
    opened.push(() => rmSync(home, { recursive: true }))
    const authority = await createAuthority('Authority of the database')
    const DB_CA_FILE = join(home, 'ca.pem')
    writeFileSync(DB_CA_FILE, authority.certificate)
    const database = await answering(asked, { tls: await authority.issue([ELSEWHERE]) })
    for (const DB_SSLMODE of ['require', 'prefer'])
      expect((await startOf(database, { DB_SSLMODE, DB_CA_FILE })).said).toContain(IN_CLEAR)
    expect((await startOf(database, { DB_SSLMODE: 'verify-full' })).said).toContain(
      'set DB_CA_FILE',
    )
    expect(database.received().includes(PASSWORD)).toBe(false)
    const DB_SSLMODE = 'verify-full'
    expect((await startOf(database, { DB_SSLMODE, DB_CA_FILE })).said).toBe('reached')
    expect(database.received().includes(PASSWORD)).toBe(true)
  })

  test('a plain password request is answered on this machine, but not if one of several hosts is elsewhere', async () => {
    const database = await answering(asked)
    const { port } = database
    const several = `${ELSEWHERE}:${port},127.0.0.1:${port}`
    expect((await startOf(database, { DB_HOST: several })).said).toContain(IN_CLEAR)
    expect(database.received().includes(PASSWORD)).toBe(false)
    for (const DB_HOST of ['127.0.0.1', 'localhost'])
      expect((await startOf(database, { DB_HOST })).said).toBe('reached')
    expect(database.received().includes(PASSWORD)).toBe(true)
  })

  test('a plain password request is not answered beside a local pooler of a remote PostgreSQL', async () => {
    const database = await answering(asked)
    const { port } = database
    const local = { DB_HOST: '127.0.0.1', DB_LISTEN_HOST: ELSEWHERE, DB_LISTEN_PORT: String(port) }
    const connection = await openDatabase(configOf(database, local), () => {})
    const besides = connection.connectBesides()
    opened.push(
      () => connection.close(),
      () => besides.end({ timeout: 0 }),
    )
    expect(await codeOf(besides`select 1`)).toBe('CONNECTION_CLEAR_PASSWORD')
    expect(database.received().includes(PASSWORD)).toBe(false)
  })
})

describe('a server that does not prove that it has the password', () => {
  /** SCRAM according to the specification, with the test's changes. */
  const scram = (otherwise: { i?: string; end?: Buffer[] | null }) => async (wire: Wire) => {
    wire.write(message('R', 10, 'SCRAM-SHA-256', Buffer.alloc(1)))
    const first = (await wire.next()).body.toString('latin1')
    const own = first.slice(first.indexOf('r=') + 2)
    const { i = '4096', end } = otherwise
    const salt = randomBytes(16)
    const challenge = `r=${own}x,s=${salt.toString('base64')},i=${i}`
    wire.write(message('R', 11, Buffer.from(challenge)))
    const [without = ''] = (await wire.next()).body.toString('latin1').split(',p=')
    const salted = pbkdf2Sync(PASSWORD, salt, Number(i), 32, 'sha256')
    const key = createHmac('sha256', salted).update('Server Key').digest()
    const text = `n=*,r=${own},${challenge},${without}`
    const proof = createHmac('sha256', key).update(text).digest('base64')
    wire.write(...(end ?? [message('R', 12, Buffer.from(`v=${proof}`)), AUTHENTICATED, READY]))
    await answerAll(wire)
  }

  test.each<[string, Parameters<typeof scram>[0]]>([
    ['as it should', {}],
    ['with few iterations, as scram_iterations may say', { i: '1' }],
    ['with many', { i: '1000000' }],
  ])('a server that completes SCRAM %s is accepted', async (_, otherwise) => {
    const database = await answering(scram(otherwise))
    expect(await poolOf(database)`select 1`).toHaveLength(0)
  })

  test.each<[string, Parameters<typeof scram>[0]]>([
    ['2^31 iterations', { i: '2147483648' }],
    ['more than a million iterations', { i: '1000001' }],
    ['no iteration', { i: '0' }],
    ['iterations that are no number', { i: '1e3' }],
    ['no signature', { end: [AUTHENTICATED, READY] }],
    ['nothing at the end', { end: [READY] }],
    ['another request', { end: [message('R', 5, Buffer.alloc(4)), AUTHENTICATED, READY] }],
  ])('the connection is closed at %s', async (_, otherwise) => {
    const database = await answering(scram(otherwise))
    expect(await codeOf(poolOf(database)`select 1`)).toBe('CONNECTION_UNPROVEN')
    expect((await startOf(database)).said).toContain('could not prove that it knows the password')
  })

  test.each<[string, Parameters<typeof scram>[0]]>([
    ['a wrong signature', { end: [message('R', 12, Buffer.from('v=AAAA')), AUTHENTICATED, READY] }],
    ['an empty signature', { end: [message('R', 12), AUTHENTICATED, READY] }],
  ])('the driver closes the connection at %s', async (_, otherwise) => {
    const database = await answering(scram(otherwise))
    const failure = await failureOf(poolOf(database)`select 1`)
    expect(failure.code).toBe('SASL_SIGNATURE_MISMATCH')
    expect(unavailableFault(failure)?.code).toBe('unavailable')
    expect((await startOf(database)).said).toContain('could not prove that it knows the password')
  })

  test.each<[string, Buffer]>([
    ['before anything', READY],
    ['with an authentication that there is not', message('R', 99)],
    ['with a signature first', message('R', 12, Buffer.from('v=null'))],
    ['once more after it was authenticated', Buffer.concat([AUTHENTICATED, message('R', 5, 1)])],
  ])('the connection is closed when the server continues %s', async (_, words) => {
    const database = await answering(async (wire) => {
      wire.write(words)
      await answerAll(wire)
    })
    expect(await codeOf(poolOf(database)`select 1`)).toBe('CONNECTION_UNPROVEN')
  })

  test('a password is not sent later to such a server either', async () => {
    const database = await answering(async (wire) => {
      wire.write(AUTHENTICATED, READY)
      await wire.next()
      wire.write(message('R', 5, Buffer.alloc(4)), message('R', 3))
      await answerAll(wire)
    })
    const here = { DB_HOST: '127.0.0.1' }
    expect(await codeOf(poolOf(database, here)`select 1`)).toBe('CONNECTION_UNPROVEN')
    const digest = createHash('md5').update(`${PASSWORD}us`).digest('hex')
    for (const form of [PASSWORD, 'md5', digest])
      expect(database.received().includes(form)).toBe(false)
  })

  test('a server that requests no password causes a warning, unless it is on this machine', async () => {
    const database = await answering(async (wire) => {
      wire.write(AUTHENTICATED, READY)
      await answerAll(wire)
    })
    const { said, lines } = await startOf(database)
    expect({ said, count: lines.length }).toEqual({ said: 'reached', count: 1 })
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      level: 'warning',
      message: 'PostgreSQL did not request DB_PASSWORD, so its identity is not verified',
      host: ELSEWHERE,
    })
    expect(await startOf(database, { DB_HOST: '127.0.0.1' })).toEqual({
      said: 'reached',
      lines: [],
    })
  })
})

describe('endless messages from a server', () => {
  const connected = (serve: (wire: Wire) => Promise<void> | void) => async (wire: Wire) => {
    wire.write(AUTHENTICATED, READY)
    await wire.next()
    await serve(wire)
  }
  const announced = (type: string, length: number) => {
    const head = Buffer.alloc(5, type)
    head.writeUInt32BE(length, 1)
    return head
  }

  /** For as long as the client reads it. */
  async function pour(wire: Wire, bytes: Buffer): Promise<void> {
    while (!wire.socket.destroyed) {
      const hasRoom = wire.socket.write(bytes)
      await new Promise((resolve) => {
        if (hasRoom) setImmediate(resolve)
        else wire.socket.once('drain', resolve).once('close', resolve)
      })
    }
  }

  test.each<[string, number]>([
    ['D', 2 ** 31 - 1],
    ['D', 64 * 1024 * 1024 + 1],
    ['d', 2 ** 31 - 1],
    ['N', 2 ** 31 - 1],
    ['Z', 2 ** 32 - 1],
    ['x', 2 ** 31],
    ['D', 3],
    ['C', 0],
  ])('a message %s with a length of %d is not read', async (type, length) => {
    const database = await answering(
      connected(async (wire) => {
        wire.write(announced(type, length))
        await pour(wire, Buffer.alloc(65_536, 'a'))
      }),
    )
    const sql = poolOf(database)
    expect(await codeOf(sql`select 1`)).toBe('CONNECTION_MESSAGE_TOO_LONG')
  })

  test('a row as long as the longest stored row is read', async () => {
    const text = 'a'.repeat(33 * 1024 * 1024)
    const column = message('T', Buffer.from([0, 1]), 'it', Buffer.alloc(18))
    const row = message('D', Buffer.from([0, 1]), text.length, Buffer.from(text))
    const database = await answering(
      connected(async (wire) => {
        wire.write(column, row, message('C', 'SELECT 1'), READY)
        await answerAll(wire)
      }),
    )
    const [found] = await poolOf(database).unsafe('select it')
    expect(found?.it.length).toBe(text.length)
  })

  test('an endless handshake ends', async () => {
    const database = await answering((wire) => pour(wire, message('S', 'the_same', 'a')))
    const sql = poolOf(database)
    expect(await codeOf(sql`select 1`)).toBe('CONNECTION_MESSAGE_TOO_LONG')
    const slow = await answering(async () => {})
    expect(await codeOf(poolOf(slow)`select 1`)).toBe('CONNECT_TIMEOUT')
  }, 20_000)
})

describe('the pause before another attempt', () => {
  /** The moments at which a server was reached within the given number of milliseconds. */
  async function momentsOf(
    serve: (wire: Wire) => Promise<void>,
    ask: (sql: postgres.Sql) => Promise<unknown>,
    count: number,
  ): Promise<number[]> {
    const moments: number[] = []
    const { promise: enough, resolve } = Promise.withResolvers<void>()
    const database = await answering(async (wire) => {
      moments.push(performance.now())
      if (moments.length === count) resolve()
      await serve(wire)
    })
    const config = configOf(database)
    const sql = openPool(serverOptions(config, ELSEWHERE), { size: 1, isServing: false })
    let isOver = false
    const asking = (async () => {
      while (!isOver) await ask(sql).catch(() => {})
    })()
    await enough
    isOver = true
    await sql.end({ timeout: 0 })
    await asking
    return moments
  }

  const pauses = (moments: readonly number[]) =>
    moments.slice(1).map((moment, at) => moment - (moments[at] ?? 0))

  test.each<[string, (wire: Wire) => Promise<void>]>([
    [
      'refuses',
      async ({ write, socket }) => {
        write(errorMessage({ S: 'FATAL', C: '28P01', M: 'no' }))
        socket.end()
      },
    ],
    ['says nothing', async ({ socket }) => void socket.end()],
    [
      'is ready, and gone',
      async ({ write, socket }) => {
        write(AUTHENTICATED, READY)
        socket.end()
      },
    ],
    [
      'answers, and is gone',
      async (wire) => {
        wire.write(AUTHENTICATED, READY)
        await wire.next()
        wire.write(errorMessage({ S: 'FATAL', C: '57P01', M: 'no' }))
        wire.socket.end()
      },
    ],
  ])(
    'the pause grows when the server %s',
    async (_, serve) => {
      const found = pauses(await momentsOf(serve, (sql) => sql.unsafe('select 1'), 7))
      // At least half of 100, 200, 400, 800 and 1,000 ms, less the accuracy of timers.
      for (const [at, least] of [50, 100, 200, 400, 500, 500].entries())
        expect(found[at]).toBeGreaterThan(least - 5)
    },
    30_000,
  )

  test('no statement waits longer for the pause than for a connection', async () => {
    const database = await answering(async ({ socket }) => void socket.end())
    expect(await codeOf(poolOf(database)`select 1`)).toBe('CONNECTION_CLOSED')
  }, 30_000)
})

{
  const { test } = requires('postgresql')

  test('rows of a failed statement are not counted for the next one', async () => {
    const { env } = await preparedDatabase()
    const { sql, close } = await openDatabase(
      readConfig({ ...KEYS, ...env }, () => KEYS),
      () => {},
    )
    opened.push(close)
    const failing = sql`select 1 / (5 - n) from generate_series(1, 9) n`
    expect(await codeOf(failing)).toBe('22012')
    expect([...(await sql`select 7 as it`)]).toEqual([{ it: 7 }])
  })
}
