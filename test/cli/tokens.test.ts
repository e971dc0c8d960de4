// tier: quick
/** Commands for people with a token instead of a session: as far as the token permits, and no further. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sharedApp, type TestApp } from '../support/app.ts'
import { marked } from '../support/canary.ts'
import { openAccount, openTerminal, type RunOptions, type Terminal } from './person.ts'

const VALUE = marked('sk_live_tokens_1')

let app: TestApp
let ada: Terminal
/** A machine without a session. */
let runner: Terminal
let using: string
let reading: string
let both: string

beforeAll(async () => {
  app = await sharedApp()
  ada = await openAccount(app, 'ada@tokens.example')
  runner = await openTerminal(app)
  await ada.must('init', 'payments')
  await ada.must('secrets', 'set', `STRIPE_KEY=${VALUE}`, 'MODE=live', '--sensitive')
  const issue = async (label: string, may: string) =>
    (await ada.must('workload-token', 'issue', label, '--may', may, '-q')).trim()
  using = await issue('uses', 'use')
  reading = await issue('reads', 'read')
  both = await issue('both', 'use,read')
})
afterAll(() => {
  ada.remove()
  runner.remove()
})

const withToken = (token: string, args: readonly string[], options: RunOptions = {}) =>
  runner.run(args, { ...options, env: { SERVICE_TOKEN: token } })
const jsonOf = async (token: string, ...args: string[]) => {
  const { code, out, err } = await withToken(token, [...args, '--json'], { reveals: true })
  if (code !== 0) throw new Error(err)
  return JSON.parse(out)
}
const names = (rows: { key: string }[]) => rows.map(({ key }) => key).sort()

test('whoami and status report a usable token, its name, and its permissions', async () => {
  expect(await jsonOf(using, 'whoami')).toEqual({
    token: expect.any(String),
    kind: 'workload',
    name: 'uses',
    may: ['use credentials'],
    can_decrypt: 'yes',
    workspace: 'Personal',
    project: 'payments',
    environment: 'development',
    grants: ['payments/development'],
    expires_at: expect.stringMatching(/Z$/),
    because: 'a token was given (--token, SERVICE_TOKEN or its file)',
    server: app.controlPlane,
    resolver: app.resolver,
  })
  expect(await jsonOf(reading, 'whoami')).toMatchObject({ name: 'reads', may: ['read values'] })
  expect(await jsonOf(both, 'status')).toMatchObject({
    kind: 'workload',
    may: ['use credentials', 'read values'],
    health: 'healthy',
    because: 'a token was given (--token, SERVICE_TOKEN or its file)',
  })
  expect(JSON.stringify(await jsonOf(using, 'status'))).not.toContain(using)
})

test('secrets list prints names for each kind of token, and values for none', async () => {
  for (const token of [using, reading, both]) {
    expect(names(await jsonOf(token, 'secrets', 'list'))).toEqual(['MODE', 'STRIPE_KEY'])
    expect((await withToken(token, ['secrets', 'list'])).out).not.toContain(VALUE)
  }
})

describe('a token that may read', () => {
  test('a read token gets one value and pulls all values', async () => {
    for (const token of [reading, both]) {
      const got = await withToken(token, ['secrets', 'get', 'STRIPE_KEY'], { reveals: true })
      expect([got.code, got.out]).toEqual([0, VALUE])
      expect(await jsonOf(token, 'secrets', 'pull')).toEqual({ MODE: 'live', STRIPE_KEY: VALUE })
    }
    expect((await withToken(reading, ['secrets', 'pull', 'pulled.env'])).code).toBe(0)
    expect(readFileSync(join(runner.cwd, 'pulled.env'), 'utf8')).toContain(VALUE)
  })

  test('a read token gets similar names when a secret does not exist', async () => {
    const { code, err } = await withToken(reading, ['secrets', 'get', 'STRIPE_KEI'])
    expect([code, err]).toEqual([4, expect.stringContaining('is it STRIPE_KEY?')])
  })

  test('a read token is rejected outside its environment', async () => {
    const { code, out } = await withToken(reading, ['secrets', 'pull', '-e', 'production'])
    expect([code, out]).toEqual([5, ''])
  })
})

test('a use token that reads a value gets the command that issues a read token', async () => {
  for (const args of [['get', 'STRIPE_KEY'], ['pull']]) {
    const { code, out, err } = await withToken(using, ['secrets', ...args])
    expect([code, out]).toEqual([5, ''])
    expect(err).toContain('cloakroom workload-token issue <label> --may use,read')
  }
})

test('a command that needs a session reports it, and suggests commands that accept a token', async () => {
  const { code, err } = await withToken(using, ['secrets', 'set', 'A=b'])
  expect(code).toBe(3)
  expect(err).toContain('this command needs a session: SERVICE_TOKEN is not enough')
  expect(err).toContain('secrets pull')
})

test('a revoked or missing token is reported in place of "log in"', async () => {
  const [{ id }] = (await ada.json('workload-token', 'list')) as [{ id: string }]
  const gone = (await ada.must('workload-token', 'issue', 'gone', '-q')).trim()
  const listed = (await ada.json('workload-token', 'list')) as { id: string; label: string }[]
  const target = listed.find(({ label }) => label === 'gone')?.id ?? id
  await ada.must('workload-token', 'revoke', target)
  for (const args of [
    ['whoami'],
    ['secrets', 'list'],
    ['secrets', 'pull'],
    ['run', '--', 'true'],
  ]) {
    const { code, err } = await withToken(gone, args)
    expect([code, err]).toEqual([3, expect.stringContaining('token rejected')])
    expect(err).not.toContain('log in')
    const nonsense = await withToken('nonsense', args)
    expect([nonsense.code, nonsense.err]).toEqual([3, expect.stringContaining('svc_agt_')])
  }
})

test('a named account wins over the variable, and excludes the option', async () => {
  const env = { SERVICE_TOKEN: using }
  const named = await ada.run(['whoami', '--json', '--account', 'ada@tokens.example'], { env })
  expect(JSON.parse(named.out)).toMatchObject({ email: 'ada@tokens.example' })
  const line = ['whoami', '--account', 'ada@tokens.example', '--token', using]
  expect((await ada.run(line)).code).toBe(2)
  expect(JSON.parse((await ada.run(['whoami', '--json'], { env })).out)).toMatchObject({
    kind: 'workload',
  })
})
