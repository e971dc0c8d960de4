// tier: all
/** Real terminals: echo, Ctrl-C, window sizes and child processes. Needs the executable in a pty. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { logInByPassword } from '../../src/client/account/log_in.ts'
import { sharedApp, type TestApp } from '../support/app.ts'
import { marked } from '../support/canary.ts'
import { openRealAccount, openTerminal, PASSWORD, type Terminal } from './person.ts'
import { inTerminal, type Typed } from './pseudo_terminal.ts'

const VALUE = marked('sk_live_terminal_1')

let app: TestApp
let ada: Terminal

beforeAll(async () => {
  app = await sharedApp()
  ada = await openRealAccount(app, 'ada@terminal.example')
  await ada.must('init', 'payments')
  await ada.must('secrets', 'set', `STRIPE_KEY=${VALUE}`)
})
afterAll(() => {
  ada.remove()
})

const typing = (args: readonly string[], typed: readonly Typed[] = []) =>
  inTerminal(args, {
    cwd: ada.cwd,
    env: { HOME: ada.home, SERVICE_SERVER_URL: app.controlPlane },
    typed,
  })

test('the executable derives keys with the Argon2id of the protocol', async () => {
  const { email } = await logInByPassword(app.controlPlane, 'ada@terminal.example', PASSWORD)
  expect(email).toBe('ada@terminal.example')
})

test('a password is requested and not echoed', async () => {
  const { code, screen } = await typing(
    ['login', 'ada@terminal.example', '--insecure-storage'],
    [{ when: 'Password', type: `${PASSWORD}\r` }],
  )
  expect(code).toBe(0)
  expect(screen).not.toContain(PASSWORD)
  expect(screen).toContain('session_in')
})

test('choosing a passphrase for the machine prints how to unlock it once instead of at every command', async () => {
  const other = await openTerminal(app)
  const passphrase = 'of this machine\r'
  const { code, screen } = await inTerminal(['login', 'ada@terminal.example'], {
    cwd: other.cwd,
    env: { HOME: other.home, SERVICE_SERVER_URL: app.controlPlane },
    typed: [
      { when: 'Password', type: `${PASSWORD}\r` },
      { when: 'Choose a passphrase', type: passphrase },
      { when: 'Repeat it', type: passphrase },
    ],
  })
  expect([code, screen]).toEqual([0, expect.stringContaining('cloakroom unlock asks once')])
  other.remove()
})

test('a value is requested and not echoed', async () => {
  const { code, screen } = await typing(
    ['secrets', 'set', 'TYPED'],
    [{ when: 'Value of TYPED', type: `${marked('hunter22')}\r` }],
  )
  expect(code).toBe(0)
  expect(screen).not.toContain('hunter22')
  expect(await ada.reveal('secrets', 'get', 'TYPED')).toBe(marked('hunter22'))
})

test('Ctrl-C at a question ends it without a stack', async () => {
  const { code, screen } = await typing(
    ['login', 'ada@terminal.example'],
    [{ when: 'Password', type: '\x03' }],
  )
  expect(code).toBe(1)
  expect(screen).toContain('cloakroom: cancelled')
  expect(screen).not.toMatch(/\bat .*:\d+:\d+/)
})

test('only yes confirms a question', async () => {
  const { code, screen } = await typing(
    ['secrets', 'delete', 'TYPED'],
    [{ when: 'Delete TYPED', type: '\r' }],
  )
  expect([code, screen.includes('nothing was done')]).toEqual([5, true])
  expect(await ada.reveal('secrets', 'get', 'TYPED')).toBe(marked('hunter22'))
})

test('a command under run has a terminal of the same size, and its output is masked', async () => {
  const script = 'test -t 0 && test -t 1 && stty size && echo "key is $STRIPE_KEY" && exit 3'
  const { code, screen } = await typing(['run', '--', 'sh', '-c', script])
  expect(code).toBe(3)
  expect(screen).toContain('30 90')
  expect(screen).toContain('key is [REDACTED]')
  expect(screen).not.toContain(VALUE)
})

test('keys reach the command under run, and Ctrl-C its foreground program', async () => {
  const read = await typing(
    ['run', '--', 'sh', '-c', 'echo ready; read line; echo "heard $line"'],
    [{ when: 'ready', type: 'hello\r' }],
  )
  expect(read.screen).toContain('heard hello')
  const stopped = await typing(
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

test('tables fit the terminal, and colour is omitted on request', async () => {
  const { screen } = await typing(['audit', 'list'])
  for (const line of screen.split('\r\n')) {
    expect(Bun.stringWidth(Bun.stripANSI(line))).toBeLessThanOrEqual(90)
  }
  expect((await ada.run(['audit', 'list'])).out).not.toContain('\x1b')
})

describe('the first value of an environment whose name may be mistyped', () => {
  const question =
    /payments has no secrets in prodution; it has some in development \(\d\)\. Create prodution\?/
  const at = ['-e', 'prodution']
  const set = ['secrets', 'set', `A=${VALUE}`, ...at]
  const environments = async () => {
    const listed = (await ada.json('env', 'list')) as { environments: Record<string, unknown> }
    return Object.keys(listed.environments)
  }
  /** Text in the lines of the screen, which are shorter. */
  const inOneLine = (screen: string) => Bun.stripANSI(screen).replace(/\s+/g, ' ')
  const answering = (type: string, args: readonly string[] = set) =>
    typing(args, [{ when: 'it has some in', type }])

  test.each([
    ['no', 'n\r'],
    ['nothing', '\r'],
    ['Ctrl-C', '\x03'],
  ])(
    'the first value of a possibly mistyped environment needs an answer on a terminal, and is not stored after %s',
    async (_, typed) => {
      ada.write('new.env', `A=${VALUE}\nB=${VALUE}\n`)
      for (const args of [set, ['secrets', 'push', 'new.env', ...at]]) {
        const { code, screen } = await answering(typed, args)
        expect(inOneLine(screen)).toMatch(question)
        expect(code).not.toBe(0)
        expect(screen).not.toContain('created')
      }
      expect(await environments()).not.toContain('prodution')
      expect(await ada.json('secrets', 'list', ...at)).toEqual([])
    },
  )

  test('the first value of a possibly mistyped environment needs one answer, and is stored after yes', async () => {
    const { code, screen } = await answering('y\r')
    expect(code).toBe(0)
    expect(inOneLine(screen)).toMatch(question)
    expect(await environments()).toContain('prodution')
    const again = await typing(['secrets', 'set', `A=${VALUE}`, `B=${VALUE}`, ...at])
    expect(again.code).toBe(0)
    expect(again.screen).not.toContain('it has some in')
    await ada.must('secrets', 'delete', 'A', 'B', '--yes', ...at)
  })

  test('--yes skips the question, and reports the new environment', async () => {
    const remark = 'prodution is a new environment of payments'
    const { code, screen } = await typing([...set, '--yes'])
    expect([code, inOneLine(screen).includes(remark)]).toEqual([0, true])
    expect(screen).not.toContain('it has some in')
    await ada.must('secrets', 'delete', 'A', '--yes', ...at)
  })

  test('usual environments, and projects without any, cause no question', async () => {
    await ada.must('project', 'create', 'fresh')
    for (const args of [
      ['-e', 'staging'],
      ['-p', 'fresh', ...at],
    ]) {
      const { code, screen } = await typing(['secrets', 'set', `A=${VALUE}`, ...args])
      expect(code).toBe(0)
      expect(screen).not.toContain('it has some in')
    }
    await ada.must('secrets', 'delete', 'A', '--yes', '-e', 'staging')
  })
})
