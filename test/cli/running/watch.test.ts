// tier: all
/**
 * `run --watch` restarts the command when one of its values changed, and at no other time. Signals go to the
 * executable, which has its own terminal.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { listChangedNames, waitMs } from '../../../src/cli/running/watch.ts'
import { executable } from '../../binary/executable.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { marked } from '../../support/canary.ts'
import { watched } from '../../support/watched.ts'
import { openAccount, type Terminal } from '../person.ts'
import { inTerminal } from '../pseudo_terminal.ts'
import { openSwitch } from './switched_server.ts'

let app: TestApp
let server: ReturnType<typeof openSwitch>
let ada: Terminal
let token: string

beforeAll(async () => {
  app = await startTestApp({ RATE_TOKEN: '100000/60' })
  server = openSwitch(app.controlPlane)
  ada = await openAccount(
    { controlPlane: server.origin, resolver: app.resolver },
    'ada@example.com',
  )
  await ada.must('init', 'payments')
  const issued = await ada.json('workload-token', 'issue', 'ci')
  token = (issued as { token: string }).token
})
afterAll(async () => {
  ada.remove()
  await server.close()
  await app.stop()
})
beforeEach(async () => {
  await server.to('passes')
  rmSync(at('log'), { force: true })
  await set('MODE=one', 'OTHER=x')
})

const at = (name: string) => join(ada.cwd, name)
const log = () => (existsSync(at('log')) ? readFileSync(at('log'), 'utf8') : '')
/** Stored on purpose, so that `run` rejects a value. */
const PRELOAD = ['LD_PRELOAD=/tmp/x.so', '--allow-env', 'LD_PRELOAD']
const set = (...pairs: string[]) => ada.must('secrets', 'set', ...pairs)

async function until(what: string, isSo: () => boolean): Promise<void> {
  const late = Date.now() + 60_000
  while (!isSo()) {
    if (Date.now() > late) throw new Error(`${what} did not come: ${log()}`)
    // Reads a file that a child process writes.
    await Bun.sleep(50)
  }
}

/** `run --watch` of a shell command. */
async function start(line: string, args: string[] = [], env: Record<string, string> = {}) {
  const command = ['run', '--watch', '--watch-interval', '1s', ...args, '--', 'bash', '-c', line]
  const child = watched(
    Bun.spawn([await executable(), ...command], {
      cwd: ada.cwd,
      env: {
        PATH: process.env.PATH ?? '',
        HOME: ada.home,
        SERVICE_SERVER_URL: server.origin,
        ...env,
      },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    }),
  )
  let said = ''
  const listen = async () => {
    for await (const chunk of child.stderr) said += Buffer.from(chunk).toString()
  }
  const read = Promise.all([child.exited, new Response(child.stdout).text(), listen()])
  return {
    kill: (signal: NodeJS.Signals) => void child.kill(signal),
    said: (text: string) => until(text, () => said.includes(text)),
    over: read.then(([code, out]) => ({ code, out, err: said })),
  }
}

/** Logs each start, and ends once MODE is `last`. */
const SERVE = `echo "$MODE" >> log; while [ "$MODE" != last ]; do sleep 0.05; done; exit 7`
const callers: [string, () => Record<string, string>][] = [
  ['a session', () => ({})],
  ['a token', () => ({ SERVICE_TOKEN: token })],
]

describe.each(callers)('with %s', (_, env) => {
  test('a changed value restarts the command and is named, and run ends with the command', async () => {
    const run = await start(SERVE, [], env())
    await until('the first start', () => log() === 'one\n')
    await set('MODE=two')
    await until('the second start', () => log() === 'one\ntwo\n')
    await set('MODE=last', 'OTHER=y')
    const { code, out, err } = await run.over
    expect([code, out]).toEqual([7, ''])
    expect(err).toBe(
      'MODE changed: restarting the command\nMODE, OTHER changed: restarting the command\n',
    )
    expect(log()).toBe('one\ntwo\nlast\n')
  }, 120_000)

  test('an equal value, another environment and a failing server do not restart the command', async () => {
    const run = await start(SERVE, [], env())
    await until('the first start', () => log() === 'one\n')
    await set('MODE=one')
    await ada.must('secrets', 'set', 'MODE=there', '-e', 'production')
    const looks = () => server.asked.length
    const before = looks()
    await until('looks', () => looks() > before + 3)
    await server.to(503)
    const broken = looks()
    await until('looks at a broken server', () => looks() > broken + 1)
    await server.to('passes')
    await set('MODE=last')
    const { code, err } = await run.over
    expect([code, log()]).toEqual([7, 'one\nlast\n'])
    expect(err).toBe(
      'Answered 503.: the command continues with its current values\n' +
        'checking for changes again\nMODE changed: restarting the command\n',
    )
  }, 120_000)
})

test('a poll leaves no record in the audit, and fetches no values without a change', async () => {
  const run = await start(SERVE, [], { SERVICE_TOKEN: token })
  const asked = (line: string) => server.asked.filter((one) => one === line).length
  const before = asked('GET /api/workloads/version/')
  // The previous test left a change, which the first poll may read.
  await until('looks', () => asked('GET /api/workloads/version/') > before + 3)
  const deliveries = asked('POST /api/workloads/env/')
  await until('more looks', () => asked('GET /api/workloads/version/') > before + 6)
  expect(asked('POST /api/workloads/env/')).toBe(deliveries)
  run.kill('SIGTERM')
  expect((await run.over).code).toBe(143)
}, 60_000)

test('several concurrent changes cause one restart', async () => {
  const run = await start(SERVE)
  await until('the first start', () => log() === 'one\n')
  for (const mode of ['two', 'three', 'four', 'last']) await set(`MODE=${mode}`)
  await run.over
  expect(log().split('\n').length).toBeLessThan(5)
  expect(log()).toEndWith('last\n')
}, 120_000)

describe('the end of the previous command', () => {
  test('a restart sends SIGTERM to all processes of the command and waits for them', async () => {
    const child = `trap 'sleep 0.5; echo child-ended >> log; exit' TERM; echo child >> log; while :; do sleep 0.05; done`
    const line = `if [ "$MODE" = last ]; then echo last >> log; exit 0; fi
      trap 'echo ended >> log; exit' TERM; bash -c "${child}" &
      while :; do sleep 0.05; done`
    const run = await start(line)
    await until('the first start', () => log() === 'child\n')
    await set('MODE=last')
    expect((await run.over).code).toBe(0)
    expect(log()).toBe('child\nended\nchild-ended\nlast\n')
  }, 120_000)

  test('processes that still run after --grace get SIGKILL', async () => {
    const line = `if [ "$MODE" = last ]; then echo last >> log; exit 0; fi
      trap '' TERM; echo one >> log; while :; do sleep 0.05; done`
    const run = await start(line, ['--grace', '1s'])
    await until('the first start', () => log() === 'one\n')
    await set('MODE=last')
    expect((await run.over).code).toBe(0)
    expect(log()).toBe('one\nlast\n')
  }, 120_000)
})

describe('a signal', () => {
  test('a signal reaches the command, whose exit code becomes that of run', async () => {
    const line = `trap 'echo got >> log' USR1; trap 'exit 9' TERM; echo one >> log; while :; do sleep 0.05; done`
    const run = await start(line)
    await until('the start', () => log() === 'one\n')
    run.kill('SIGUSR1')
    await until('the signal', () => log() === 'one\ngot\n')
    run.kill('SIGTERM')
    expect((await run.over).code).toBe(9)
  }, 60_000)

  test('a signal during a restart cancels the restart', async () => {
    const line = `trap 'echo ending >> log; sleep 5' TERM; echo "$MODE" >> log; while :; do sleep 0.05; done`
    const run = await start(line)
    await until('the start', () => log() === 'one\n')
    await set('MODE=two')
    await until('its end', () => log() === 'one\nending\n')
    run.kill('SIGINT')
    expect([(await run.over).code, log()]).toEqual([130, 'one\nending\n'])
  }, 120_000)
})

describe('a variable that no program may be started with', () => {
  test('a forbidden variable leaves the command running, is named once, and the next change restarts', async () => {
    const run = await start(SERVE)
    await until('the first start', () => log() === 'one\n')
    await set('MODE=two', ...PRELOAD)
    await run.said('LD_PRELOAD, MODE changed; the command continues unchanged')
    const looks = server.asked.length
    await until('more looks', () => server.asked.length > looks + 5)
    expect(log()).toBe('one\n')
    await ada.must('secrets', 'delete', 'LD_PRELOAD', '--yes')
    await until('the restart', () => log() === 'one\ntwo\n')
    await set('MODE=last')
    const { err } = await run.over
    expect(err.split('LD_PRELOAD, MODE changed; the command continues unchanged').length).toBe(2)
  }, 120_000)

  test('a forbidden variable is rejected at the first start', async () => {
    await set(...PRELOAD)
    const { code } = await (await start(SERVE)).over
    await ada.must('secrets', 'delete', 'LD_PRELOAD', '--yes')
    expect([code, log()]).toEqual([5, ''])
  })
})

test('a revoked token leaves the command running, and prevents another start', async () => {
  const issued = await ada.json('workload-token', 'issue', 'short')
  const run = await start(SERVE, [], { SERVICE_TOKEN: (issued as { token: string }).token })
  await until('the first start', () => log() === 'one\n')
  await ada.must('workload-token', 'revoke', 'short')
  await run.said('token rejected')
  await set('MODE=two')
  const looks = server.asked.length
  await until('another look', () => server.asked.length > looks)
  run.kill('SIGTERM')
  const { code, err } = await run.over
  expect([code, log()]).toEqual([143, 'one\n'])
  expect(err).toContain('token rejected')
  expect(err.match(/continues with its current values/g)?.length).toBe(1)
}, 60_000)

test('with --fallback the command starts from the file, and restarts when the server is back with new values', async () => {
  const args = ['--fallback', 'kept']
  await ada.must('run', ...args, '--', 'true')
  await server.to('down')
  const run = await start(SERVE, args)
  await until('the first start', () => log() === 'one\n')
  await server.to('passes')
  await set('MODE=last')
  const { code, err } = await run.over
  expect([code, log()]).toEqual([7, 'one\nlast\n'])
  expect(err).toContain('cannot be reached: using kept')
}, 120_000)

test('the restarted command gets the terminal', async () => {
  const line = `echo "$MODE" >> log; echo "ready $MODE"; read line; echo "read $line by $MODE"; exit 3`
  const run = inTerminal(['run', '--watch', '--watch-interval', '1s', '--', 'bash', '-c', line], {
    cwd: ada.cwd,
    env: { HOME: ada.home, SERVICE_SERVER_URL: server.origin },
    typed: [{ when: 'ready two', type: 'hello\r' }],
  })
  await until('the first start', () => log() === 'one\n')
  await set('MODE=two')
  const { code, screen } = await run
  expect([code, screen.includes('read hello by two')]).toEqual([3, true])
}, 120_000)

test('values are masked after a restart too, and never printed', async () => {
  const value = marked('after')
  const line = `echo "got $SHOWN"; if [ "$MODE" = last ]; then exit 0; fi; echo one >> log; while :; do sleep 0.05; done`
  const run = await start(line)
  await until('the first start', () => log() === 'one\n')
  await set('MODE=last', `SHOWN=${value}`)
  const { out, err } = await run.over
  expect([out, err.includes(value)]).toEqual(['got \ngot [REDACTED]\n', false])
}, 120_000)

test('a changed personal value restarts the command like any other, and the use of personal values is reported once', async () => {
  const run = await start(SERVE)
  await until('the first start', () => log() === 'one\n')
  await ada.must('secrets', 'set', 'MODE=two', '--mine')
  await until('the second start', () => log() === 'one\ntwo\n')
  await ada.must('secrets', 'set', 'MODE=last', '--mine')
  const { code, err } = await run.over
  await ada.must('secrets', 'delete', 'MODE', '--mine', '--yes')
  const changed = 'MODE changed: restarting the command\n'
  const own = 'your own values are used in payments/development: MODE (omit them with --no-mine)\n'
  expect([code, err]).toEqual([7, `${own}${changed}${changed}`])
}, 120_000)

test.each([
  [['--fallback-max-age', '1h'], '--fallback-max-age has no effect without --fallback (usage)'],
  [['--watch-interval', '5s'], '--watch-interval has no effect without --watch (usage)'],
  [['--grace', '5s'], '--grace has no effect without --watch (usage)'],
  [
    ['--watch', '--watch-interval', '2'],
    '--watch-interval must be a time such as 30s, from 1s to 1d (usage)\n→ 2 has no unit: s, m, h, d or w',
  ],
])('%j is an invalid option, and no command is run', async (args, said) => {
  const ran = await ada.run(['run', ...args, '--', 'echo', 'started'])
  expect(ran).toEqual({ code: 2, out: '', err: `cloakroom: ${said}\n` })
})

test('the delay doubles with each failure, up to five minutes, and is randomized', () => {
  const waits = [0, 1, 2, 3, 10, 2_000].map((failures) => waitMs(10_000, failures, 0.5))
  expect(waits).toEqual([10_000, 20_000, 40_000, 80_000, 300_000, 300_000])
  expect([waitMs(10_000, 0, 0), waitMs(10_000, 0, 1)]).toEqual([7_500, 12_500])
  expect(waitMs(86_400_000, 3, 0.5)).toBe(86_400_000)
})

test('changed names are those that are new, removed or have another value', () => {
  const of = (values: Record<string, string>) =>
    Object.fromEntries(
      Object.entries(values).map(([name, value]) => [name, { value, isSensitive: true }]),
    )
  expect(listChangedNames(of({ A: '1', B: '2', C: '3' }), of({ A: '1', B: 'x', D: '' }))).toEqual([
    'B',
    'C',
    'D',
  ])
  expect(listChangedNames(of({ A: '1' }), of({ A: '1' }))).toEqual([])
})
