// tier: all
/**
 * The passphrase of a machine without a keyring, requested once: unlock and lock. The executable starts a process
 * that holds the key, so each command is a process, too.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { deriveMasterKey, KDF_DEFAULT } from '../../src/client/account/keys.ts'
import { executable } from '../binary/executable.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { watched } from '../support/watched.ts'
import { openSpawningTerminal, PASSWORD, type Terminal } from './person.ts'
import { inTerminal } from './pseudo_terminal.ts'

const PASSPHRASE = 'seven quiet herons'

let app: TestApp
let ada: Terminal
let runtime: string

beforeAll(async () => {
  app = await startTestApp()
  ada = await openSpawningTerminal(app)
  runtime = join(ada.home, 'run')
  mkdirSync(runtime, { mode: 0o700 })
  const { code, err } = await ada.run(['register', 'ada@example.com', '--password-stdin'], {
    stdin: PASSWORD,
    env: { SERVICE_PASSPHRASE: PASSPHRASE },
  })
  if (code !== 0) throw new Error(err)
})
afterEach(async () => {
  rmSync(join(runtime, 'cloakroom'), { recursive: true, force: true })
})
afterAll(async () => {
  ada.remove()
  await app.stop()
})

const here = () => ({ XDG_RUNTIME_DIR: runtime })
const knowing = () => ({ ...here(), SERVICE_PASSPHRASE: PASSPHRASE })
const run = (args: readonly string[], env: Record<string, string> = here()) =>
  ada.run(args, { env })
const socket = () => join(runtime, 'cloakroom', 'unlocked.sock')
const sealedFile = () => join(ada.home, '.config', 'cloakroom', 'session.json')

test('unlock makes commands run without a passphrase, until lock', async () => {
  const locked = await run(['whoami'])
  expect([locked.code, locked.err]).toEqual([2, expect.stringContaining('cloakroom unlock')])
  const unlocked = await run(['unlock', '--for', '30m', '--json'], knowing())
  expect(unlocked.err).toBe('')
  const { unlocked_until } = JSON.parse(unlocked.out)
  expect((await run(['whoami'])).code).toBe(0)
  expect(JSON.parse((await run(['status', '--json'])).out)).toMatchObject({ unlocked_until })
  expect(await run(['lock'])).toEqual({ code: 0, out: 'Locked.\n', err: '' })
  expect(existsSync(socket())).toBe(false)
  expect((await run(['whoami'])).code).toBe(2)
  expect(JSON.parse((await run(['status', '--json'])).out)).not.toHaveProperty('unlocked_until')
  expect((await run(['lock'])).out).toBe('It was already locked.\n')
})

test('the passphrase is requested on a terminal, not echoed, and requested again after a wrong one', async () => {
  const unlocked = await inTerminal(['unlock'], {
    cwd: ada.cwd,
    env: { HOME: ada.home, SERVICE_SERVER_URL: app.controlPlane, ...here() },
    typed: [
      { when: 'Passphrase', type: 'something else\r' },
      { when: /is wrong[\s\S]*Passphrase/, type: `${PASSPHRASE}\r` },
    ],
  })
  expect([unlocked.code, unlocked.screen.includes('Unlocked until')]).toEqual([0, true])
  expect(unlocked.screen).not.toMatch(new RegExp(`${PASSPHRASE}|something else`))
  expect((await run(['whoami'])).code).toBe(0)
  await run(['lock'])
})

test('a wrong passphrase starts nothing', async () => {
  const { code } = await run(['unlock'], { ...here(), SERVICE_PASSPHRASE: 'something else' })
  expect([code, existsSync(socket())]).toEqual([3, false])
})

test('a session that is stored meanwhile, and another account, need no passphrase either', async () => {
  await run(['unlock'], knowing())
  const { sql } = app.connection
  await sql`update session_tokens set expires_at = now() - interval '1 minute' where kind = 'access'`
  expect((await run(['whoami'])).code).toBe(0)
  const second = await ada.run(['register', 'bob@example.com', '--password-stdin'], {
    stdin: PASSWORD,
    env: here(),
  })
  expect([second.code, (await run(['whoami', '--account', 'ada@example.com'])).code]).toEqual([
    0, 0,
  ])
  await run(['lock'])
  expect((await run(['whoami', '--account', 'ada@example.com'], knowing())).code).toBe(0)
  await run(['account', 'remove', 'bob@example.com', '--yes'], knowing())
})

test('a second unlock replaces the first', async () => {
  await run(['unlock', '--for', '1h'], knowing())
  const { out } = await run(['unlock', '--for', '2h', '--json'])
  expect(JSON.parse((await run(['status', '--json'])).out)).toMatchObject(JSON.parse(out))
  await run(['lock'])
  expect((await run(['whoami'])).code).toBe(2)
})

test('the agent ends when its time is over, and removes its socket', async () => {
  mkdirSync(join(runtime, 'cloakroom'), { mode: 0o700 })
  const order = { path: socket(), salt: '', key: '', until: Date.now() + 300 }
  const agent = watched(
    Bun.spawn([await executable(), '__unlocked'], {
      stdin: new Blob([JSON.stringify(order)]),
      stdout: 'pipe',
      stderr: 'pipe',
    }),
  )
  expect(await agent.exited).toBe(0)
  expect(existsSync(socket())).toBe(false)
})

test('the key is never on disk, and only the owner can use socket and directory', async () => {
  await run(['unlock'], knowing())
  expect(statSync(socket()).mode & 0o777).toBe(0o600)
  expect(statSync(join(runtime, 'cloakroom')).mode & 0o777).toBe(0o700)
  const { salt } = JSON.parse(readFileSync(sealedFile(), 'utf8'))
  const key = Buffer.from(
    await deriveMasterKey(PASSPHRASE, Buffer.from(salt, 'base64'), KDF_DEFAULT),
  )
  const files = readdirSync(ada.home, { recursive: true, encoding: 'utf8' })
    .map((name) => join(ada.home, name))
    .filter((path) => statSync(path).isFile())
  expect(files.length).toBeGreaterThan(1)
  for (const path of files) {
    const bytes = readFileSync(path)
    for (const form of [key, key.toString('base64'), key.toString('hex'), PASSPHRASE])
      expect([path, bytes.includes(form)]).toEqual([path, false])
  }
  await run(['lock'])
})

test('an invalid or too long time is a usage error', async () => {
  for (const time of ['', '8', '0h', '8d', '-1h', '8h30m']) {
    expect((await run(['unlock', `--for=${time}`], knowing())).code).toBe(2)
  }
  expect(existsSync(socket())).toBe(false)
})

test('unlock fails when no key is protected by a passphrase', async () => {
  const bob = await openSpawningTerminal(app)
  const { code, err } = await bob.run(['unlock'], { env: here() })
  expect([code, err]).toEqual([3, expect.stringContaining('is protected by a passphrase')])
  bob.remove()
})

describe('a socket that may belong to another user', () => {
  let server: Server
  let connections: number
  const plant = async (directory: string, mode: number) => {
    mkdirSync(directory, { recursive: true })
    connections = 0
    server = createServer((client) => {
      connections += 1
      client.end('{"salt":"","key":"","until":99999999999999}\n')
    })
    await new Promise<void>((resolve) =>
      server.listen(join(directory, 'unlocked.sock'), () => resolve()),
    )
    chmodSync(join(directory, 'unlocked.sock'), mode)
  }
  afterEach(() => server?.close())

  const isRefused = async () => {
    const { code, err } = await run(['unlock'], knowing())
    expect([code, err]).toEqual([5, expect.stringContaining('may belong to another user')])
    expect((await run(['whoami'])).code).toBe(2)
    expect((await run(['whoami'], knowing())).code).toBe(0)
    const status = JSON.parse((await run(['status', '--json'])).out)
    expect(status.unlocked_until).toContain('may belong to another user')
    expect(connections).toBe(0)
  }

  test('a socket in a directory that others may enter is not used', async () => {
    const directory = join(runtime, 'cloakroom')
    await plant(directory, 0o600)
    chmodSync(directory, 0o755)
    await isRefused()
  })

  test('a socket that others may write to is not used', async () => {
    const directory = join(runtime, 'cloakroom')
    mkdirSync(directory, { mode: 0o700 })
    await plant(directory, 0o666)
    chmodSync(directory, 0o700)
    await isRefused()
  })

  test('a socket behind a link is not used', async () => {
    const elsewhere = join(ada.home, 'elsewhere')
    await plant(elsewhere, 0o600)
    chmodSync(elsewhere, 0o700)
    symlinkSync(elsewhere, join(runtime, 'cloakroom'))
    await isRefused()
  })

  test('a socket in a directory that others could replace is not used', async () => {
    const directory = join(runtime, 'cloakroom')
    await plant(directory, 0o600)
    chmodSync(directory, 0o700)
    chmodSync(runtime, 0o777)
    await isRefused()
    chmodSync(runtime, 0o700)
  })

  test('a file in place of the socket is rejected and kept', async () => {
    mkdirSync(join(runtime, 'cloakroom'), { mode: 0o700 })
    writeFileSync(socket(), 'a file')
    connections = 0
    await isRefused()
    expect(readFileSync(socket(), 'utf8')).toBe('a file')
  })
})
