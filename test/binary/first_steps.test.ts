// tier: all
/** Errors of a first start, and the program's messages about them. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freshDatabase, sharedCluster } from '../support/database.ts'
import { requires } from '../support/requires.ts'
import { executable, runProgram, spawnProgram } from './executable.ts'
import { KEYS } from './scene.ts'

const FREE = { PORT: '0', RESOLVER_PORT: '0' }

let place = ''

beforeAll(async () => {
  await executable()
  place = mkdtempSync(join(tmpdir(), 'cr-first-'))
}, 60_000)
afterAll(() => rmSync(place, { recursive: true, force: true }))

function listen(server: Server, port = 0): Promise<number> {
  return new Promise((resolve) => {
    server.listen(port, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })
}

describe('ports and addresses', () => {
  test('each port in use is reported, with its variable', async () => {
    const taken = [createServer(), createServer()]
    const [first = 0, second = 0] = await Promise.all(taken.map((server) => listen(server)))
    const ports = { PORT: '0', RESOLVER_PORT: String(first), ADMIN_PORT: String(second) }
    const { code, stdout, stderr } = await runProgram({ env: ports })
    expect({ code, stdout, lines: stderr.trimEnd().split('\n') }).toEqual({
      code: 1,
      stdout: '',
      lines: [
        expect.stringContaining(`RESOLVER_PORT: port ${first} is in use`),
        expect.stringContaining(`ADMIN_PORT: port ${second} is in use`),
      ],
    })
    const role = { ROLE: 'control-plane', PORT: String(first), RESOLVER_PORT: String(second) }
    expect((await runProgram({ env: role })).stderr).toStartWith(
      `cloakroom: PORT: port ${first} is in use`,
    )
    for (const server of taken) server.close()
  }, 60_000)

  test('an address that this machine does not have is not reported as a port in use', async () => {
    for (const HOST of ['203.0.113.1', 'no-such-host.invalid'])
      expect(await runProgram({ env: { ...FREE, HOST } })).toEqual({
        code: 78,
        stdout: '',
        stderr: 'cloakroom: HOST: is not an address of this machine (example: 0.0.0.0)\n',
      })
  }, 60_000)

  test('a DATA_DIR that is not a directory is reported as such', async () => {
    const file = join(place, 'file')
    writeFileSync(file, '')
    const { code, stderr } = await runProgram({ env: { ...FREE, DATA_DIR: file } })
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `cloakroom: DATA_DIR: the data directory cannot be written: it is a file; pass a folder, at ${file} (EEXIST)\n`,
    })
  }, 60_000)

  test('health names the requested address', async () => {
    const free = createServer()
    const port = await listen(free)
    await new Promise((resolve) => free.close(resolve))
    const env = { ROLE: 'resolver', RESOLVER_PORT: String(port) }
    expect(await runProgram({ args: ['health'], env })).toEqual({
      code: 1,
      stdout: `resolver       unreachable: http://127.0.0.1:${port}/healthz\n`,
      stderr: '',
    })
  })
})

describe('an unavailable database', () => {
  const sockets = new Set<Socket>()
  const silent = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
  })
  const web = createHttpServer((_, answer) => answer.end('hello'))
  const open = [silent, web]
  let ports: [silent: number, web: number]

  const at = (port: number) => ({
    ...KEYS,
    ...FREE,
    DB_HOST: '127.0.0.1',
    DB_PORT: String(port),
    DB_NAME: 'cloakroom',
    DB_USER: 'cloakroom',
  })

  beforeAll(async () => {
    ports = [await listen(silent), await listen(web)]
  })
  afterAll(() => {
    for (const socket of sockets) socket.destroy()
    for (const server of open) server.close()
  })

  test('whatever listens instead of the database, one line reports the address and the reason', async () => {
    const [nobody, speechless, foreign] = [1, ...ports]
    const expected: [number, string][] = [
      [nobody, 'connection refused (ECONNREFUSED)'],
      [speechless, 'no response within 5 seconds'],
      [foreign, 'the port is not a PostgreSQL server'],
    ]
    const starts = ['disable', 'prefer', 'require'].flatMap((DB_SSLMODE) =>
      expected.map(async ([port, reason]) => {
        const env = { ...at(port), DB_SSLMODE, DB_WAIT_SECONDS: '0' }
        expect(await runProgram({ env })).toEqual({
          code: 1,
          stdout: '',
          stderr: `cloakroom: PostgreSQL could not be reached at 127.0.0.1:${port}: ${reason}; check DB_HOST and DB_PORT\n`,
        })
      }),
    )
    await Promise.all(starts)
  }, 60_000)

  test('a start waits for the database, reports it, and can be stopped meanwhile', async () => {
    const program = await spawnProgram({ env: at(ports[1]) })
    await program.stderr.until('"message":"waiting for PostgreSQL"')
    program.signal('SIGTERM')
    const { code, stdout, stderr } = await program.ended
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(JSON.parse(stderr.split('\n')[0] ?? '')).toMatchObject({
      level: 'warning',
      host: '127.0.0.1',
      port: ports[1],
      reason: 'the port is not a PostgreSQL server',
      give_up_in_s: 60,
    })
  }, 60_000)

  test('a start stops waiting after DB_WAIT_SECONDS', async () => {
    const { code, stderr } = await runProgram({ env: { ...at(1), DB_WAIT_SECONDS: '1' } })
    expect(code).toBe(1)
    expect(stderr.trimEnd().split('\n').at(-1)).toBe(
      'cloakroom: PostgreSQL could not be reached at 127.0.0.1:1 within 1 s: connection refused (ECONNREFUSED); check DB_HOST and DB_PORT',
    )
  }, 60_000)

  test('calculate_metrics reports the same', async () => {
    const env = { ...at(ports[1]), DB_WAIT_SECONDS: '0' }
    const { code, stdout, stderr } = await runProgram({ args: ['calculate_metrics'], env })
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain(`PostgreSQL could not be reached at 127.0.0.1:${ports[1]}: `)
  }, 60_000)

  {
    const { test } = requires('postgresql')
    test('the process that started first serves once the database is available', async () => {
      const { env } = await freshDatabase()
      const { socketDir } = await sharedCluster()
      const relay = createServer((socket) => {
        const database = connect(`${socketDir}/.s.PGSQL.5432`)
        socket.pipe(database).pipe(socket)
        for (const end of [socket, database]) end.on('error', () => {})
      })
      const port = await listen(relay)
      await new Promise((resolve) => relay.close(resolve))
      const program = await spawnProgram({ env: { ...at(port), DB_NAME: env.DB_NAME ?? '' } })
      await program.stderr.until('connection refused (ECONNREFUSED)')
      await listen(relay, port)
      await program.stdout.until(`PostgreSQL, ${env.DB_NAME} on 127.0.0.1:${port}`)
      program.signal('SIGTERM')
      expect((await program.ended).code).toBe(0)
      relay.close()
    }, 60_000)

    test('a server without TLS, although TLS is required, ends the start without a wait', async () => {
      const { env } = await freshDatabase()
      expect(
        await runProgram({ env: { ...KEYS, ...FREE, ...env, DB_SSLMODE: 'require' } }),
      ).toEqual({
        code: 78,
        stdout: '',
        stderr:
          'cloakroom: DB_SSLMODE: requires TLS, which the PostgreSQL server does not offer (example: prefer)\n',
      })
    }, 60_000)
  }
})
