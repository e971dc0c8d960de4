import { afterAll, beforeAll, expect, test } from 'bun:test'
import { executable } from '../binary/executable.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { marked, search } from '../support/canary.ts'
import { watched } from '../support/watched.ts'
import { openAccount, PASSWORD, type Terminal } from './person.ts'

const VALUE = marked('sk_live_terminal_1')

let app: TestApp
let ada: Terminal

beforeAll(async () => {
  app = await startTestApp()
  ada = await openAccount(app, 'ada@example.com')
  await ada.must('init', 'payments')
  await ada.must('secrets', 'set', `STRIPE_KEY=${VALUE}`)
})
afterAll(async () => {
  ada.remove()
  await app.stop()
})

type Typed = { when: string; type: string }

/** One command in a pseudo-terminal: types each text once the screen shows what it waits for. */
async function inTerminal(
  args: readonly string[],
  typed: readonly Typed[] = [],
): Promise<{ code: number; screen: string }> {
  let screen = ''
  const waiting = [...typed]
  const closed = Promise.withResolvers<void>()
  const child = watched(
    Bun.spawn([await executable(), ...args], {
      cwd: ada.cwd,
      env: {
        PATH: process.env.PATH ?? '',
        HOME: ada.home,
        TERM: 'xterm-256color',
        SERVICE_SERVER_URL: app.controlPlane,
      },
      terminal: {
        cols: 90,
        rows: 30,
        data: (terminal, data) => {
          screen += new TextDecoder().decode(data)
          while (waiting[0] && screen.includes(waiting[0].when))
            terminal.write(waiting.shift()?.type ?? '')
        },
        exit: () => closed.resolve(),
      },
    }),
  )
  const code = await child.exited
  await Promise.race([closed.promise, Bun.sleep(1000)])
  // A terminal is no stream that could be watched.
  search('output', 'a terminal', screen)
  return { code, screen }
}

test('a password is asked for and not echoed', async () => {
  const { code, screen } = await inTerminal(
    ['login', 'ada@example.com', '--insecure-storage'],
    [{ when: 'Password', type: `${PASSWORD}\r` }],
  )
  expect(code).toBe(0)
  expect(screen).not.toContain(PASSWORD)
  expect(screen).toContain('session_in')
})

test('a value is asked for and not echoed', async () => {
  const { code, screen } = await inTerminal(
    ['secrets', 'set', 'TYPED'],
    [{ when: 'Value of TYPED', type: `${marked('hunter22')}\r` }],
  )
  expect(code).toBe(0)
  expect(screen).not.toContain('hunter22')
  expect(await ada.reveal('secrets', 'get', 'TYPED')).toBe(marked('hunter22'))
})

test('Ctrl-C at a question ends it without a stack', async () => {
  const { code, screen } = await inTerminal(
    ['login', 'ada@example.com'],
    [{ when: 'Password', type: '\x03' }],
  )
  expect(code).toBe(1)
  expect(screen).toContain('cloakroom: cancelled')
  expect(screen).not.toMatch(/\bat .*:\d+:\d+/)
})

test('a question is answered with no unless somebody says yes', async () => {
  const { code, screen } = await inTerminal(
    ['secrets', 'delete', 'TYPED'],
    [{ when: 'Delete TYPED', type: '\r' }],
  )
  expect([code, screen.includes('nothing was done')]).toEqual([5, true])
  expect(await ada.reveal('secrets', 'get', 'TYPED')).toBe(marked('hunter22'))
})

test('a command under run has a terminal of the same size, and its output is masked', async () => {
  const script = 'test -t 0 && test -t 1 && stty size && echo "key is $STRIPE_KEY" && exit 3'
  const { code, screen } = await inTerminal(['run', '--', 'sh', '-c', script])
  expect(code).toBe(3)
  expect(screen).toContain('30 90')
  expect(screen).toContain('key is [REDACTED]')
  expect(screen).not.toContain(VALUE)
})

test('keys reach the command under run, and Ctrl-C its foreground program', async () => {
  const read = await inTerminal(
    ['run', '--', 'sh', '-c', 'echo ready; read line; echo "heard $line"'],
    [{ when: 'ready', type: 'hello\r' }],
  )
  expect(read.screen).toContain('heard hello')
  const stopped = await inTerminal(
    [
      'run',
      '--',
      'sh',
      '-c',
      'trap "echo caught; exit 9" INT; echo ready; while :; do sleep 0.1; done',
    ],
    [{ when: 'ready', type: '\x03' }],
  )
  expect([stopped.code, stopped.screen.includes('caught')]).toEqual([9, true])
})

test('tables fit the terminal, and colour is left out where it is not wanted', async () => {
  const { screen } = await inTerminal(['audit', 'list'])
  for (const line of screen.split('\r\n')) {
    expect(Bun.stringWidth(Bun.stripANSI(line))).toBeLessThanOrEqual(90)
  }
  expect((await ada.run(['audit', 'list'])).out).not.toContain('\x1b')
})
