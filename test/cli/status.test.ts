// tier: quick
/** `status` prints each part, whatever the state of the others. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mintToken } from '../../src/core/crypto/token.ts'
import { sharedApp, type TestApp } from '../support/app.ts'
import { openAccount, type Terminal } from './person.ts'

const NOTHING_THERE = 'http://127.0.0.1:1'

let app: TestApp
let ada: Terminal

beforeAll(async () => {
  app = await sharedApp()
  ada = await openAccount(app, 'ada@status.example')
})
afterAll(() => {
  ada.remove()
})

const BROKEN = '<<<<<<< HEAD'
const PROJECT = '{ "project": "payments" }'
const parts = [
  ['server', { SERVICE_SERVER_URL: NOTHING_THERE }, PROJECT, 'unreachable', 6],
  ['resolver', { SERVICE_RESOLVER_URL: NOTHING_THERE }, PROJECT, 'unreachable', 6],
  ['account', { SERVICE_TOKEN: 'not-a-token' }, PROJECT, 'invalid_token', 3],
  ['project', {}, BROKEN, 'invalid_file', 2],
] as const
const WELL = {
  server: { health: 'healthy' },
  resolver: { resolver_health: 'healthy' },
  account: { logged_in: 'ada@status.example' },
  project: { project: 'payments' },
}
const FIELD = {
  server: 'health',
  resolver: 'resolver_health',
  account: 'logged_in',
  project: 'project',
}

test.each(parts)(
  'status prints the other parts when the %s fails, and its exit code reports the failure',
  async (part, env, file, error, exitCode) => {
    ada.write('.cloakroom.json', file)
    const { code, out, err } = await ada.run(['status', '--json'], { env })
    const { [part]: _, ...others } = WELL
    // An address without a server has no account either, which is not a separate failure.
    const rest = Object.assign({}, ...Object.values(others))
    if (part === 'server') rest.logged_in = 'nobody'
    expect({ code, ...JSON.parse(out) }).toMatchObject({
      ...rest,
      code: exitCode,
      [FIELD[part]]: error,
      environment: 'development',
      failures: [{ part, code: error }],
    })
    // A broken project file has a warning above the error.
    expect(JSON.parse(err.trim().split('\n').at(-1) ?? '')).toMatchObject({
      error: { code: error },
    })
    const shown = await ada.run(['status'], { env })
    expect(shown.out).toMatch(new RegExp(`^${FIELD[part]} +${error}$`, 'm'))
    expect(shown.err).toMatch(/^cloakroom: /m)
  },
)

test('status explains every failure, and succeeds when no part fails', async () => {
  ada.write('.cloakroom.json', BROKEN)
  const env = { SERVICE_SERVER_URL: NOTHING_THERE, SERVICE_TOKEN: 'not-a-token' }
  const { code, err } = await ada.run(['status'], { env })
  expect(code).toBe(6)
  for (const text of ['cannot be reached', 'token', '.cloakroom.json']) expect(err).toContain(text)
  ada.write('.cloakroom.json', PROJECT)
  expect(await ada.json('status')).not.toHaveProperty('failures')
})

test('status contacts no default resolver when the server is on another machine', async () => {
  const env = { SERVICE_SERVER_URL: 'https://vault.invalid', SERVICE_RESOLVER_URL: '' }
  const { out } = await ada.run(['status', '--json'], { env })
  const { failures, ...fields } = JSON.parse(out)
  expect(fields.resolver_health).toBe('not checked: no resolver configured')
  expect(failures).toMatchObject([{ part: 'server' }])
})

test('call and status name the setting with a wrong address, and an unreachable resolver', async () => {
  const token = mintToken('agt').text
  const call = (env: Record<string, string>) =>
    ada.run(['call', 'https://api.example/'], { env: { SERVICE_TOKEN: token, ...env } })
  const wrong = await call({ SERVICE_RESOLVER_URL: app.controlPlane })
  expect([wrong.code, wrong.err]).toEqual([
    6,
    expect.stringMatching(
      /is not a Cloakroom resolver \(unusable_answer\)\n→ set SERVICE_RESOLVER_URL /,
    ),
  ])
  const dead = await call({ SERVICE_RESOLVER_URL: NOTHING_THERE })
  expect([dead.code, dead.err]).toEqual([
    6,
    expect.stringContaining(`the resolver at ${NOTHING_THERE}`),
  ])
  const status = await ada.run(['status'], { env: { SERVICE_SERVER_URL: app.resolver } })
  expect([status.code, status.err]).toEqual([
    6,
    expect.stringContaining('is not a Cloakroom server'),
  ])
})
