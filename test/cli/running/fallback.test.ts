// tier: all
/** `run --fallback`: values for times when the server is unavailable, and for no other use. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openFallback, sealFallback } from '../../../src/client/delivery/fallback.ts'
import { parseToken } from '../../../src/core/crypto/token.ts'
import { sharedApp, type TestApp } from '../../support/app.ts'
import { marked } from '../../support/canary.ts'
import { openAccount, type RunOptions, type Terminal } from '../person.ts'
import { openSwitch } from './switched_server.ts'

const VALUE = marked('fallback')

let app: TestApp
let server: ReturnType<typeof openSwitch>
let ada: Terminal
let token: string

beforeAll(async () => {
  app = await sharedApp()
  server = openSwitch(app.controlPlane)
  ada = await openAccount(
    { controlPlane: server.origin, resolver: app.resolver },
    'ada@fallback.example',
  )
  await ada.must('init', 'payments')
  await ada.must('secrets', 'set', `API_KEY=${VALUE}`, 'MODE=live')
  await ada.must('secrets', 'set', 'MODE=real', '-e', 'production')
  token = await issue()
})
afterAll(async () => {
  ada.remove()
  await server.close()
})
beforeEach(async () => {
  await server.to('passes')
  rmSync(path(), { force: true })
})

const issue = async () =>
  ((await ada.json('workload-token', 'issue', crypto.randomUUID())) as { token: string }).token
const path = (name = 'kept') => join(ada.cwd, name)
const read = () => readFileSync(path(), 'utf8')
/** Prints the length of the value, but not the value. */
const CHECK = ['--', 'sh', '-c', 'echo "$MODE ${#API_KEY}"']
const SHOWN = `live ${VALUE.length}\n`
const run = (args: string[] = [], options: RunOptions = {}) =>
  ada.run(['run', '--fallback', 'kept', ...args, ...CHECK], options)

/** A command with the session, and one with a token. */
const callers: [string, () => RunOptions][] = [
  ['a session', () => ({})],
  ['a token', () => ({ env: { SERVICE_TOKEN: token } })],
]

describe.each(callers)('%s', (_, options) => {
  test('run continues with the last delivery when the server is unreachable, and prints a warning', async () => {
    expect(await run([], options())).toEqual({ code: 0, out: SHOWN, err: '' })
    expect(statSync(path()).mode & 0o777).toBe(0o600)
    expect(read()).not.toContain('API_KEY')
    await server.to('down')
    const { code, out, err } = await run([], options())
    expect([code, out]).toEqual([0, SHOWN])
    expect(err).toMatch(
      /^WARNING: the server at http:\S+ cannot be reached: using kept, fetched \d+s ago \(20\S+Z\)\n$/,
    )
  })

  test.each([500, 502, 503])('run continues when the server answers %d', async (status) => {
    await run([], options())
    await server.to(status)
    const { code, out, err } = await run([], options())
    expect([code, out, err.startsWith('WARNING: ')]).toEqual([0, SHOWN, true])
  })

  test('run continues when the server does not respond, and ends without waiting for it', async () => {
    await run([], options())
    await server.to('hangs')
    const { code, out, err } = await run([], options())
    expect([code, out, err]).toEqual([
      0,
      SHOWN,
      expect.stringContaining('did not respond within 10 seconds: using kept'),
    ])
  }, 60_000)

  test.each([401, 403, 404, 409, 429])(
    'run does not use the fallback when the server rejects with %d',
    async (status) => {
      await run([], options())
      const before = read()
      await server.to(status)
      const { code, out } = await run([], options())
      expect([code === 0, out, read()]).toEqual([false, '', before])
    },
  )

  test('run fails with the error of the server when no fallback exists yet', async () => {
    await server.to('down')
    const { code, out, err } = await run([], options())
    expect([code, out]).toEqual([6, ''])
    expect(err).toContain('cannot be reached, and kept does not exist yet')
    expect(existsSync(path())).toBe(false)
  })

  test('run stores each delivery in the fallback', async () => {
    await run([], options())
    const first = read()
    await run([], options())
    expect(read()).not.toBe(first)
  })

  test('values from the fallback are masked in the output', async () => {
    await run([], options())
    await server.to('down')
    const args = ['run', '--fallback', 'kept', '--', 'sh', '-c', 'echo "$API_KEY"']
    expect((await ada.run(args, options())).out).toBe('[REDACTED]\n')
  })

  test('a fallback of another environment is rejected', async () => {
    await run([], options())
    await server.to('down')
    const before = read()
    const { code, out, err } = await run(['-e', 'production'], options())
    expect([code, out, read()]).toEqual([5, '', before])
    expect(err).toContain('kept belongs to another environment: development, not production')
  })
})

describe('the age of a fallback', () => {
  const keep = (fetchedAt: Date) => {
    const { id, secret } = parseToken(token) ?? { id: '', secret: new Uint8Array() }
    const asked = { server: server.origin, workspace: '', project: '', environment: 'development' }
    const values = { MODE: { value: 'old', isSensitive: false } }
    writeFileSync(path(), sealFallback({ id, secret }, asked, { values, fetchedAt }))
  }
  const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000)
  const withToken = (...args: string[]) => run(args, { env: { SERVICE_TOKEN: token } })

  test('a fallback may be up to 24 hours old, unless --fallback-max-age sets another limit', async () => {
    await server.to('down')
    keep(hoursAgo(23))
    expect((await withToken()).out).toBe('old 0\n')
    expect(await withToken('--fallback-max-age', '22h')).toMatchObject({ code: 6, out: '' })
    keep(hoursAgo(25))
    const { code, out, err } = await withToken()
    expect([code, out]).toEqual([6, ''])
    expect(err).toContain('kept was fetched 1d ago')
    expect((await withToken('--fallback-max-age', '2d')).out).toBe('old 0\n')
  })

  test('a fallback from the future is rejected', async () => {
    await server.to('down')
    keep(hoursAgo(-1))
    expect(await withToken()).toMatchObject({ code: 6, out: '' })
  })

  test('an old fallback is replaced while the server is reachable', async () => {
    keep(hoursAgo(100))
    expect((await withToken()).out).toBe(SHOWN)
    expect(read()).toContain(`"fetched_at": "${new Date().getUTCFullYear()}`)
  })

  test('the age of a fallback has bounds', async () => {
    for (const age of ['0s', '31d', '5w', 'soon', '']) {
      expect((await withToken('--fallback-max-age', age)).code).toBe(2)
    }
    expect((await withToken('--fallback-max-age', '1w')).code).toBe(0)
  })
})

describe('an invalid fallback file is an error and is not changed', () => {
  const files: [string, () => Promise<string>][] = [
    ['any other file', async () => 'MINE=1\n'],
    [
      'of another token',
      async () => {
        const other = await issue()
        await run([], { env: { SERVICE_TOKEN: other } })
        return read()
      },
    ],
    [
      'that was altered',
      async () => {
        await run([], { env: { SERVICE_TOKEN: token } })
        return read().replace(/"sealed": "./, '"sealed": "!')
      },
    ],
  ]
  test.each(files)('%s', async (_, make) => {
    const text = await make()
    for (const mode of ['passes', 'down'] as const) {
      await server.to('passes')
      writeFileSync(path(), text)
      await server.to(mode)
      const { code, out, err } = await run([], { env: { SERVICE_TOKEN: token } })
      expect([code, out, read()]).toEqual([5, '', text])
      expect(err).toContain(
        'nothing was run (wrong_fallback)\n→ use another file with --fallback, or remove this',
      )
    }
  })

  test('a link as the fallback file is rejected, and its target stays', async () => {
    writeFileSync(path('target'), 'mine')
    symlinkSync(path('target'), path())
    expect((await run()).code).toBe(2)
    expect(readFileSync(path('target'), 'utf8')).toBe('mine')
    rmSync(path())
  })
})

test('a revoked token is rejected by the server, and the fallback is not used', async () => {
  const label = crypto.randomUUID()
  const issued = await ada.json('workload-token', 'issue', label)
  const env = { SERVICE_TOKEN: (issued as { token: string }).token }
  expect((await run([], { env })).code).toBe(0)
  await ada.must('workload-token', 'revoke', label)
  const { code, out, err } = await run([], { env })
  expect([code, out, err]).toEqual([3, '', expect.stringContaining('token rejected')])
})

test('a fallback that cannot be written is reported, and the command runs', async () => {
  const { code, out, err } = await ada.run(['run', '--fallback', 'folder/kept', ...CHECK])
  expect([code, out, err]).toEqual([0, SHOWN, ''])
  const failed = await ada.run(['run', '--fallback', '/proc/kept', ...CHECK])
  expect([failed.code, failed.out]).toEqual([0, SHOWN])
  expect(failed.err).toContain('the fallback was not written: /proc/kept cannot be written')
})

test("the fallback does not contain its key: the token opens it, and the server's data does not", async () => {
  await run([], { env: { SERVICE_TOKEN: token } })
  const { id, secret } = parseToken(token) ?? { id: '', secret: new Uint8Array() }
  const asked = { server: server.origin, workspace: '', project: '', environment: 'development' }
  expect(openFallback({ id, secret }, asked, read()).values.API_KEY?.value).toBe(VALUE)
  const { tokenAuth } = await import('../../../src/core/crypto/token.ts')
  expect(() => openFallback({ id, secret: tokenAuth(id, secret) }, asked, read())).toThrow(
    'altered',
  )
})

describe('an older state of a signed workspace from the server', () => {
  const ENV = '/api/workloads/env/'
  let fresh: string
  let again: (isOn: boolean) => void

  beforeEach(async () => {
    fresh = await issue()
    await run([], { env: { SERVICE_TOKEN: fresh } })
    again = server.keep(ENV)
    await ada.must('secrets', 'set', 'MODE=test')
  })
  afterEach(async () => {
    again(false)
    await ada.must('secrets', 'set', 'MODE=live')
  })
  const NEWER = `test ${VALUE.length}\n`
  const alone = (env: Record<string, string> = {}) =>
    ada.run(['run', ...CHECK], { env: { SERVICE_TOKEN: fresh, ...env } })
  const REFUSED = { code: 5, out: '' }

  test('an older state is rejected by the revision that this machine saw with the token', async () => {
    expect(await alone()).toMatchObject({ code: 0, out: NEWER })
    again(true)
    expect(await alone()).toMatchObject(REFUSED)
    const args = ['secrets', 'get', 'MODE', '--token', fresh]
    expect(await ada.run(args)).toMatchObject(REFUSED)
    again(false)
    expect(await alone()).toMatchObject({ code: 0, out: NEWER })
  })

  test('an older state is rejected by the revision in the fallback alone', async () => {
    const elsewhere = { XDG_CONFIG_HOME: join(ada.cwd, crypto.randomUUID()) }
    const options = { env: { SERVICE_TOKEN: fresh, ...elsewhere } }
    expect(await run([], options)).toMatchObject({ code: 0, out: NEWER })
    again(true)
    rmSync(elsewhere.XDG_CONFIG_HOME, { recursive: true })
    expect(await run([], options)).toMatchObject(REFUSED)
    const moved = { ...JSON.parse(read()) }
    moved.seen.revision -= 1
    writeFileSync(path(), JSON.stringify(moved))
    expect((await run([], options)).err).toContain('was altered')
  })
})

test('secrets that a policy omits from environments are named, with a session and with a token', async () => {
  const only = ['-e', 'bound', '--policy', '{"allowed_locations":["header"]}']
  await ada.must('secrets', 'set', 'BOUND=x', ...only)
  await ada.must('secrets', 'set', 'OPEN=x', '-e', 'bound')
  const issued = await ada.json('workload-token', 'issue', 'bound', '-e', 'bound')
  const { token: bound } = issued as { token: string }
  for (const env of [{}, { SERVICE_TOKEN: bound }]) {
    const { code, err } = await ada.run(['run', '-e', 'bound', '--', 'true'], { env })
    expect([code, err]).toEqual([0, 'omitted, because their policies do not list env: BOUND\n'])
  }
})
