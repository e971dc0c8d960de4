// tier: all
/** A command that cannot write its configuration changes nothing on the server; one that loses an answer keeps its session. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { openApi } from '../../src/client/http/api.ts'
import { refresh } from '../../src/features/accounts/contract.ts'
import { writesNothing } from '../features/accounts/support.ts'
import { startTestApp, type TestApp, UNLIMITED } from '../support/app.ts'
import { openAccount, PASSWORD, type Terminal } from './person.ts'

let app: TestApp
let between: ReturnType<typeof losing>
let ada: Terminal
/** Answers of these paths are lost on their way back, once each. */
const lost: string[] = []

function losing(origin: string) {
  return Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async (request) => {
      const { pathname, search } = new URL(request.url)
      const { method, headers } = request
      const body = method === 'GET' ? null : await request.text()
      const answer = await fetch(`${origin}${pathname}${search}`, { method, headers, body })
      const at = lost.indexOf(pathname)
      if (at < 0) return answer
      lost.splice(at, 1)
      return new Response('gone', { status: 502 })
    },
  })
}

beforeAll(async () => {
  app = await startTestApp(UNLIMITED)
  between = losing(app.controlPlane)
  const controlPlane = `http://127.0.0.1:${between.port}`
  ada = await openAccount({ controlPlane, resolver: app.resolver }, 'ada@example.com')
  await ada.must('init', 'payments')
  await ada.must('secrets', 'set', 'KEY=a-value-that-is-secret')
  await ada.must('agent', 'create', 'bot', '--label', 'one')
  await ada.must('workload-token', 'issue', 'ci')
  await ada.must('allowlist', 'add', 'api.example.com')
  await ada.must('workspace', 'create', 'acme')
})
afterAll(async () => {
  ada.remove()
  await between.stop(true)
  await app.stop()
})

describe('with a configuration folder that cannot be written', () => {
  let env: Record<string, string>

  /**
   * Existing names can be read; longer ones, which drafts have, exceed the limit of the file system. It applies to
   * root too.
   */
  beforeAll(() => {
    const { length } = '/cloakroom'
    const LONGEST = 4_055
    let config = join(ada.home, 'deep')
    while (config.length + length < LONGEST) {
      const left = LONGEST - config.length - length - 1
      config = join(config, 'd'.repeat(left > 250 ? Math.min(200, left - 2) : left))
    }
    const made = join(config, 'cloakroom')
    mkdirSync(made, { recursive: true })
    cpSync(join(ada.home, '.config/cloakroom'), made, { recursive: true })
    env = { XDG_CONFIG_HOME: dirname(made) }
  })

  const commands: string[][] = [
    ['secrets', 'set', 'OTHER=a-value-that-is-secret'],
    ['secrets', 'delete', 'KEY', '--yes'],
    ['agent', 'create', 'other', '--save'],
    ['agent', 'delete', 'bot', '--yes'],
    ['token', 'issue', 'bot', '--label', 'two', '--save'],
    ['token', 'revoke', 'bot', 'one'],
    ['workload-token', 'issue', 'other'],
    ['workload-token', 'revoke', 'ci'],
    ['project', 'create', 'billing'],
    ['project', 'rename', 'payments', 'paying'],
    ['project', 'describe', 'payments', 'text'],
    ['project', 'delete', 'payments', '--yes'],
    ['env', 'create', 'staging'],
    ['env', 'delete', 'development', '--yes'],
    ['allowlist', 'add', 'other.example.com'],
    ['allowlist', 'remove', 'api.example.com'],
    ['workspace', 'create', 'other'],
    ['workspace', 'rename', 'acme', 'other'],
    ['workspace', 'delete', 'acme', '--yes'],
    ['account', 'rotate-keys', '--yes', '--password-stdin'],
    ['register', 'bob@example.com', '--password-stdin'],
    ['login', 'ada@example.com', '--password-stdin'],
  ]
  /** These commands read values first, which the audit records. */
  const reading: string[][] = [
    ['policy', 'set', 'KEY', '--methods', 'GET'],
    ['workspace', 'rekey', '--yes'],
  ]
  const refused = async (args: readonly string[]) => {
    const { code, err } = await ada.run([...args, '--json'], { env, stdin: `${PASSWORD}\n` })
    expect([code, JSON.parse(err).error]).toMatchObject([
      2,
      {
        code: 'invalid_file',
        message: expect.stringContaining('nothing was done'),
        hint: expect.stringContaining('XDG_CONFIG_HOME'),
      },
    ])
  }

  for (const args of commands)
    test(`${args.slice(0, 2).join(' ')} changes nothing on the server, and names the folder`, () =>
      writesNothing(app, () => refused(args)))

  for (const args of reading)
    test(`${args.slice(0, 2).join(' ')} is rejected, and names the folder`, () => refused(args))

  test('commands that only read still succeed', async () => {
    expect((await ada.run(['secrets', 'list'], { env })).code).toBe(0)
  })
})

describe('a session whose access token expired', () => {
  const expire = () => app.connection.sql`update session_tokens
    set expires_at = now() - interval '1 minute' where kind = 'access'`
  const stored = () =>
    JSON.parse(readFileSync(join(ada.home, '.config/cloakroom/session.json'), 'utf8'))
  const rotations = async () => {
    const [row] = await app.connection.sql`
      select count(*)::int as count from session_tokens where rotated_at is not null`
    return Number(row?.count)
  }

  test('an expired session is renewed once for twenty concurrent commands', async () => {
    const before = await rotations()
    await expire()
    const runs = await Promise.all(Array.from({ length: 20 }, () => ada.run(['whoami'])))
    expect(runs.map(({ code }) => code)).toEqual(runs.map(() => 0))
    expect(await rotations()).toBe(before + 1)
  })

  test('an expired session survives a lost answer', async () => {
    await expire()
    lost.push('/api/auth/refresh/')
    expect((await ada.run(['whoami'])).code).toBe(0)
    expect([lost, (await ada.run(['whoami'])).code]).toEqual([[], 0])
  })

  test('an expired session survives a command that was killed after the exchange, before it stored the new tokens', async () => {
    await expire()
    await openApi(app.controlPlane).call(refresh, { body: { refresh: stored().refresh } })
    expect((await ada.run(['whoami'])).code).toBe(0)
  })
})
