// tier: quick
/** Commands for a person's own account: password, recovery key, sessions. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startTestApp, type TestApp } from '../support/app.ts'
import { answering } from './answering.ts'
import { openAccount, openTerminal, PASSWORD, type Terminal } from './person.ts'
import { plainWorkspace, signedWorkspace } from './signed_person.ts'

const NEXT = 'another long passphrase'

let app: TestApp
let ada: Terminal
let other: Terminal

const logIn = (terminal: Terminal, email: string, password: string) =>
  terminal.run(['login', email, '--password-stdin', '--insecure-storage'], { stdin: password })

beforeAll(async () => {
  app = await startTestApp()
  ada = await openAccount(app, 'ada@example.com')
  other = await openTerminal(app)
  await logIn(other, 'ada@example.com', PASSWORD)
})
afterAll(async () => {
  ada.remove()
  other.remove()
  await app.stop()
})

test('sessions are listed and other sessions ended, but never the current one by mistake', async () => {
  const sessions = (await ada.json('sessions', 'list')) as { id: string; current: boolean }[]
  const own = sessions.find(({ current }) => current)?.id ?? ''
  const remote = sessions.find(({ current }) => !current)?.id ?? ''
  expect(sessions).toHaveLength(2)
  const mine = await ada.run(['sessions', 'end', own, '--yes'])
  expect([mine.code, mine.err]).toEqual([2, expect.stringContaining('cloakroom logout')])
  expect((await ada.run(['sessions', 'end', '--yes'])).code).toBe(2)
  expect((await ada.run(['sessions', 'end', 'nonsense', '--yes'])).code).toBe(4)
  const unasked = await ada.run(['sessions', 'end', remote])
  expect([unasked.code, unasked.err]).toEqual([2, expect.stringContaining('--yes')])
  expect(await ada.json('sessions', 'end', '--others', '--yes')).toEqual({ ended: [remote] })
  expect((await other.run(['whoami'])).code).toBe(3)
  expect((await ada.run(['whoami'])).code).toBe(0)
  expect(await ada.json('sessions', 'end', '--others', '--yes')).toEqual({ ended: [] })
})

test('password change asks for the current and the new password, and ends all other sessions', async () => {
  await ada.must('init', 'kept')
  await ada.must('secrets', 'set', 'KEPT=still here')
  await logIn(other, 'ada@example.com', PASSWORD)
  const change = (stdin: string) => ada.run(['password', 'change', '--password-stdin'], { stdin })
  const wrong = await change(`not the password\n${NEXT}\n`)
  expect({ code: wrong.code, err: wrong.err }).toEqual({
    code: 3,
    err: 'cloakroom: the password is wrong (wrong_password)\n→ nothing was changed\n',
  })
  expect((await change(`${PASSWORD}\nshort\n`)).code).toBe(2)
  expect((await change(`${PASSWORD}\n`)).code).toBe(2)
  const { code, out } = await change(`${PASSWORD}\n${NEXT}\n`)
  expect([code, out]).toEqual([0, expect.stringContaining('all other sessions have ended')])
  expect((await other.run(['whoami'])).code).toBe(3)
  expect((await logIn(other, 'ada@example.com', PASSWORD)).code).toBe(3)
  expect((await logIn(other, 'ada@example.com', NEXT)).code).toBe(0)
  expect(await other.must('secrets', 'get', 'KEPT')).toBe('still here')
})

test('password change asks on a terminal, for the new password twice, and nowhere else', async () => {
  const dora = await openAccount(app, 'dora@example.com')
  const refused = await dora.run(['password', 'change'])
  expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('--password-stdin')])
  const { code, screen } = await answering(['password', 'change'], {
    cwd: dora.cwd,
    env: { HOME: dora.home, SERVICE_SERVER_URL: app.controlPlane },
    typed: [
      { when: 'Current password', type: 'a mistyped one\r' },
      { when: 'New password', type: `${NEXT}\r` },
      { when: 'Repeat it', type: `${NEXT}\r` },
      { when: /is wrong[\s\S]*Current password/, type: `${PASSWORD}\r` },
    ],
  })
  expect([code, screen.includes('was changed')]).toEqual([0, true])
  expect([screen.includes(PASSWORD), screen.includes(NEXT)]).toEqual([false, false])
  dora.remove()
})

test.each(['register', 'login', 'recover'])(
  '%s asks no question if no server answers',
  async (command) => {
    const { code, screen } = await answering([command, 'nobody@example.com'], {
      cwd: ada.cwd,
      env: { HOME: other.home, SERVICE_SERVER_URL: 'http://127.0.0.1:1' },
    })
    expect([code, screen]).toEqual([6, expect.not.stringMatching(/password:|recovery key/i)])
  },
)

test('recovery new creates a key that recovers, once the password was given', async () => {
  const make = (stdin: string) =>
    ada.run(['recovery', 'new', '--password-stdin', '--json'], { stdin })
  expect((await make('not the password\n')).code).toBe(3)
  expect((await ada.run(['recovery', 'new'])).code).toBe(2)
  const { recovery_key } = JSON.parse((await make(`${NEXT}\n`)).out)
  expect(recovery_key).toMatch(/^([0-9a-f]{8}-?){8}$/)
  const recovered = await other.run(
    ['recover', 'ada@example.com', '--password-stdin', '--insecure-storage'],
    { stdin: NEXT, env: { SERVICE_RECOVERY_KEY: recovery_key } },
  )
  expect(recovered.code).toBe(0)
  expect(await other.must('secrets', 'get', 'KEPT', '-p', 'kept')).toBe('still here')
})

test('recover names the length of a truncated recovery key, and reports a key and address that do not match', async () => {
  const recover = (SERVICE_RECOVERY_KEY: string) =>
    other.run(['recover', 'ada@example.com', '--password-stdin', '--insecure-storage'], {
      stdin: NEXT,
      env: { SERVICE_RECOVERY_KEY },
    })
  expect(await recover('0123456789abcdef')).toEqual({
    code: 2,
    out: '',
    err: 'cloakroom: the recovery key has 64 hex digits; yours has 16 (usage)\n→ copy all eight groups of the recovery key\n',
  })
  expect(await recover('0'.repeat(64))).toEqual({
    code: 3,
    out: '',
    err: 'cloakroom: The email address or recovery key is wrong. (invalid_credentials)\n→ check the recovery key and the address; each use replaces the key\n',
  })
})

test('account delete asks for confirmation, and removes session and account', async () => {
  const bob = await openAccount(app, 'bob@example.com')
  await plainWorkspace(app, 'bob@example.com', 'acme')
  await signedWorkspace(app, 'bob@example.com', 'signed')
  const end = (stdin: string) =>
    bob.run(['account', 'delete', '--yes', '--password-stdin'], { stdin })
  const unasked = await bob.run(['account', 'delete', '--password-stdin'], { stdin: PASSWORD })
  expect([unasked.code, unasked.err]).toEqual([2, expect.stringContaining('--yes')])
  expect((await bob.run(['account', 'delete', '--yes'])).code).toBe(2)
  expect((await end('not the password')).code).toBe(3)
  const member = await end(PASSWORD)
  expect([member.code, member.err]).toEqual([
    5,
    expect.stringContaining('you are a member of signed workspaces: signed (still_member)\n'),
  ])
  await bob.must('workspace', 'delete', 'signed', '--yes')
  const owner = await end(PASSWORD)
  expect(owner.code).toBe(5)
  expect(owner.err).toContain('Make another member an owner, or delete them. (last_owner)')
  expect(owner.err).toMatch(/ [0-9a-f-]{36}: acme\n/)
  await app.connection.sql`delete from workspaces where name = 'acme'`
  const { code, out } = await end(PASSWORD)
  expect([code, out]).toEqual([0, expect.stringContaining('is deleted')])
  expect((await bob.run(['whoami'])).err).toContain('not signed in')
  expect((await logIn(bob, 'bob@example.com', PASSWORD)).code).toBe(3)
  bob.remove()
})

test('account delete on a terminal asks for confirmation before the password', async () => {
  const eve = await openAccount(app, 'eve@example.com')
  const type = (typed: { when: string; type: string }[]) =>
    answering(['account', 'delete'], {
      cwd: eve.cwd,
      env: { HOME: eve.home, SERVICE_SERVER_URL: app.controlPlane },
      typed,
    })
  const no = await type([{ when: 'permanent', type: '\r' }])
  expect([no.code, no.screen.includes('nothing was done')]).toEqual([5, true])
  const yes = await type([
    { when: 'permanent', type: 'y\r' },
    { when: 'Password', type: `${PASSWORD}\r` },
  ])
  expect([yes.code, yes.screen.includes('is deleted')]).toEqual([0, true])
  eve.remove()
})
