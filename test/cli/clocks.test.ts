// tier: quick
/**
 * A wrong clock of 400 days on either side, in both directions: a person is warned with both times, and no token is
 * issued whose expiry counts from the local time. The `Date` header of a server moves no expiry.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { sharedApp, type TestApp } from '../support/app.ts'
import { openAccount, type RunOptions, type Terminal } from './person.ts'

const MINUTE = 60_000
const DAY = 1440 * MINUTE

let app: TestApp
let ada: Terminal
/** Passes everything on, with another `Date`. */
let relay: Bun.Server<undefined>
let aheadMs = 0

beforeAll(async () => {
  app = await sharedApp()
  relay = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async (request) => {
      const { pathname, search } = new URL(request.url)
      const headers = new Headers(request.headers)
      headers.set('host', new URL(app.controlPlane).host)
      const body = request.body ? await request.bytes() : null
      const answer = await fetch(`${app.controlPlane}${pathname}${search}`, {
        method: request.method,
        headers,
        body,
      })
      const changed = new Headers(answer.headers)
      changed.set('date', new Date(Date.now() + aheadMs).toUTCString())
      return new Response(await answer.bytes(), { status: answer.status, headers: changed })
    },
  })
  const controlPlane = `http://127.0.0.1:${relay.port}`
  ada = await openAccount({ controlPlane, resolver: app.resolver }, 'ada@clocks.example')
  await ada.must('init', 'payments')
  await ada.must('agent', 'create', 'deploy')
})
afterEach(() => {
  aheadMs = 0
})
afterAll(async () => {
  await relay.stop(true)
  ada.remove()
})

/** How far the server is ahead, seen from this machine: its own clock is wrong, or the server's. */
const sides: [side: string, set: (ms: number) => RunOptions][] = [
  [
    'server',
    (ms) => {
      aheadMs = ms
      return {}
    },
  ],
  ['machine', (ms) => ({ now: () => Date.now() - ms })],
]
const directions: [direction: string, sign: number][] = [
  ['ahead of', 1],
  ['behind', -1],
]
const cases = sides.flatMap(([side, set]) =>
  directions.map(([direction, sign]) => ({ side, direction, set: (ms: number) => set(sign * ms) })),
)
type Listed = { id: string; label: string; status: string; expires_at: string }
const tokens = async () => {
  const { out } = await ada.run(['token', 'list', 'deploy', '--json'])
  return JSON.parse(out) as Listed[]
}

describe.each(cases)(
  "the $side's clock is wrong: the server is $direction this machine",
  (each) => {
    test('a difference of 400 days is reported once, with both times', async () => {
      const { code, err } = await ada.run(['secrets', 'list'], each.set(400 * DAY))
      expect(code).toBe(0)
      const [said, ...others] = err.split('\n').filter((line) => line.includes('The clock of'))
      expect(others).toEqual([])
      expect(said).toMatch(
        new RegExp(`is 400 days ${each.direction} this machine's clock: [^ ]+Z there, [^ ]+Z here`),
      )
      expect(err).toContain('run date -u on both machines')
    })

    test('no token is issued whose expiry counts from the local time, and nothing changes', async () => {
      const before = await tokens()
      for (const args of [
        ['token', 'issue', 'deploy', '--expires-in-days', '30'],
        ['workload-token', 'issue', 'ci'],
        ['agent', 'create', 'another'],
      ]) {
        const { code, err } = await ada.run([...args, '--json'], each.set(400 * DAY))
        const last = err.trim().split('\n').at(-1) ?? ''
        expect({ args, code, error: JSON.parse(last).error }).toMatchObject({
          code: 5,
          error: { code: 'clocks_differ', message: expect.stringContaining('400 days') },
        })
      }
      aheadMs = 0
      expect(await tokens()).toEqual(before)
      expect(await ada.must('agent', 'list')).not.toContain('another')
    })

    test('an error that a wrong clock can cause names the difference', async () => {
      const options = { ...each.set(400 * DAY), stdin: 'a wrong password\n' }
      const args = ['login', 'ada@clocks.example', '--password-stdin', '--insecure-storage']
      const { code, err } = await ada.run([...args, '--json'], options)
      expect(code).not.toBe(0)
      const { error } = JSON.parse(err.trim().split('\n').at(-1) ?? '')
      expect(error).toMatchObject({
        code: 'invalid_credentials',
        hint: expect.stringContaining('400 days'),
      })
    })

    test('a difference of 10 minutes is reported, and moves no expiry beyond the requested one', async () => {
      const own = `${each.side} ${each.direction}`
      const { code, err } = await ada.run(
        ['token', 'issue', 'deploy', '--expires-in-days', '30', '--label', own],
        each.set(10 * MINUTE),
      )
      expect({ code, err }).toEqual({ code: 0, err: expect.stringContaining('10 minutes') })
      aheadMs = 0
      const issued = (await tokens()).findLast(({ label }) => label === own)
      const lifetime = Date.parse(issued?.expires_at ?? '') - Date.now()
      const ownError = each.side === 'machine' ? 10 * MINUTE : 0
      expect(lifetime).toBeLessThanOrEqual(30 * DAY + ownError)
    })

    test('a difference of 4 minutes is not reported', async () => {
      const { code, err } = await ada.run(['secrets', 'list'], each.set(4 * MINUTE))
      expect({ code, err: err.includes('clock') }).toEqual({ code: 0, err: false })
    })
  },
)

test('a token that never expires is issued whatever the clocks are', async () => {
  aheadMs = 400 * DAY
  const { code } = await ada.run(['token', 'issue', 'deploy', '--expires-in-days', 'never'])
  expect(code).toBe(0)
})
