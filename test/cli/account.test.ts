// tier: all
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { executable } from '../binary/executable.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { watched } from '../support/watched.ts'
import { openAccount, openTerminal, PASSWORD, type Terminal } from './person.ts'

let app: TestApp
let ada: Terminal

beforeAll(async () => {
  app = await startTestApp()
  ada = await openAccount(app, 'ada@example.com')
})
afterAll(async () => {
  ada.remove()
  await app.stop()
})

const sessionFile = () => join(ada.home, '.config', 'cloakroom', 'session.json')

test('whoami and status print the person, the server and the place of the session', async () => {
  expect(await ada.json('whoami')).toEqual({
    email: 'ada@example.com',
    name: '',
    id: expect.any(String),
    account: `ada@example.com@${new URL(app.controlPlane).host}`,
    because: 'the one in use',
    server: app.controlPlane,
    fingerprint: expect.stringMatching(/^([a-z2-7]{4} ){5}[a-z2-7]{4}$/),
  })
  expect(await ada.json('status')).toEqual({
    server: app.controlPlane,
    health: 'healthy',
    version: expect.any(String),
    resolver: app.resolver,
    resolver_health: 'healthy',
    logged_in: 'ada@example.com',
    account: `ada@example.com@${new URL(app.controlPlane).host}`,
    because: 'the one in use',
    session_in: sessionFile(),
    environment: 'development',
  })
})

test('only the owner can read the session file', () => {
  expect(statSync(sessionFile()).mode & 0o777).toBe(0o600)
})

test('a wrong password is exit 3 with the next step, without a stack', async () => {
  const { code, out, err } = await ada.run(['login', 'ada@example.com', '--password-stdin'], {
    stdin: 'something else\n',
  })
  expect({ code, out }).toEqual({ code: 3, out: '' })
  expect(err).toBe(
    'cloakroom: The email address or password is wrong. (invalid_credentials)\n→ check the address and the password\n',
  )
})

test('logging out ends the session on this machine and on the server', async () => {
  const bob = await openAccount(app, 'bob@example.com')
  const kept = readFileSync(join(bob.home, '.config', 'cloakroom', 'session.json'), 'utf8')
  const { access } = JSON.parse(kept)
  expect(await bob.must('logout')).toBe('Signed out.\n')
  expect(await bob.run(['whoami'])).toEqual({
    code: 3,
    out: '',
    err: 'cloakroom: not signed in (not_logged_in)\n→ sign in with: cloakroom login EMAIL\n',
  })
  const ci = await bob.run(['run', '--', 'true'], { env: { SERVICE_TOKEN: '' } })
  expect([ci.code, ci.err]).toEqual([
    3,
    expect.stringContaining(
      'not signed in, and SERVICE_TOKEN is empty (not_logged_in)\n→ CI systems',
    ),
  ])
  const refused = await app.call('GET', '/api/users/me/', { token: access })
  expect(refused.status).toBe(401)
  bob.remove()
})

test('an expired access token is renewed silently', async () => {
  const { sql } = app.connection
  await sql`update session_tokens set expires_at = now() - interval '1 minute' where kind = 'access'`
  expect(await ada.json('workspace', 'list')).toHaveLength(1)
})

test('several concurrent commands renew the session once and all succeed', async () => {
  const { sql } = app.connection
  await sql`update session_tokens set expires_at = now() - interval '1 minute' where kind = 'access'`
  const runs = await Promise.all([1, 2, 3, 4].map(() => ada.run(['whoami'])))
  expect(runs.map(({ code, err }) => ({ code, err }))).toEqual(
    runs.map(() => ({ code: 0, err: '' })),
  )
})

test('without --insecure-storage the session is sealed under a passphrase', async () => {
  const carol = await openTerminal(app)
  const env = { SERVICE_PASSPHRASE: 'of this machine' }
  const registered = await carol.run(['register', 'carol@example.com', '--password-stdin'], {
    stdin: PASSWORD,
    env,
  })
  expect(registered.code).toBe(0)
  const kept = readFileSync(join(carol.home, '.config', 'cloakroom', 'session.json'), 'utf8')
  expect(Object.keys(JSON.parse(kept))).toEqual(['sealed', 'salt', 'nonce', 'data'])
  expect((await carol.run(['whoami'], { env })).code).toBe(0)
  const wrong = await carol.run(['whoami'], { env: { SERVICE_PASSPHRASE: 'another' } })
  expect({ code: wrong.code, err: wrong.err }).toEqual({
    code: 3,
    err: 'cloakroom: the passphrase is wrong (wrong_passphrase)\n→ retry, or start over with cloakroom logout, which removes the session, saved tokens and your own values from this machine\n',
  })
  carol.remove()
})

test('a password changed elsewhere ends the session with a message, until the next login', async () => {
  const here = await openAccount(app, 'finn@example.com')
  const there = await openTerminal(app)
  const login = ['login', 'finn@example.com', '--password-stdin', '--insecure-storage']
  expect((await there.run(login, { stdin: PASSWORD })).code).toBe(0)
  const next = 'another long passphrase'
  const changed = await there.run(['password', 'change', '--password-stdin'], {
    stdin: `${PASSWORD}\n${next}\n`,
  })
  expect([changed.code, changed.err]).toEqual([0, expect.any(String)])
  expect(await here.run(['workspace', 'list'])).toEqual({
    code: 3,
    out: '',
    err: 'cloakroom: the session of finn@example.com expired or was ended elsewhere, for example by a password change (session_ended)\n→ sign in again with: cloakroom login finn@example.com\n',
  })
  expect((await here.run(login, { stdin: next })).code).toBe(0)
  expect(await here.json('workspace', 'list')).toHaveLength(1)
  expect(await there.json('workspace', 'list')).toHaveLength(1)
  for (const terminal of [here, there]) terminal.remove()
})

test('the recovery key sets a new password once, and is replaced by another', async () => {
  const dora = await openTerminal(app)
  const flags = ['--password-stdin', '--insecure-storage']
  const { err } = await dora.run(['register', 'dora@example.com', ...flags], { stdin: PASSWORD })
  const [key = ''] = /^([0-9a-f]{8}-?){8}$/m.exec(err) ?? []
  await dora.must('init', 'kept')
  await dora.must('secrets', 'set', 'KEPT=still here')
  const recovered = await dora.run(['recover', 'dora@example.com', ...flags], {
    stdin: 'another long password',
    env: { SERVICE_RECOVERY_KEY: key },
  })
  expect(recovered.code).toBe(0)
  expect(await dora.must('secrets', 'get', 'KEPT')).toBe('still here')
  const [next] = /^([0-9a-f]{8}-?){8}$/m.exec(recovered.err) ?? []
  expect(next).not.toBe(key)
  const again = await dora.run(['recover', 'dora@example.com', ...flags], {
    stdin: 'a third long password',
    env: { SERVICE_RECOVERY_KEY: key },
  })
  expect(again.code).toBe(3)
  dora.remove()
})

test('no account is registered if the session could not be stored', async () => {
  const erin = await openTerminal(app)
  const refused = await erin.run(['register', 'erin@example.com', '--password-stdin'], {
    stdin: PASSWORD,
  })
  expect([refused.code, refused.err]).toEqual([
    2,
    'cloakroom: the question needs a terminal (terminal_required)\n→ no keyring on this machine: set SERVICE_PASSPHRASE or add --insecure-storage\n',
  ])
  expect(
    (await app.connection.sql`select 1 from users where email = 'erin@example.com'`).length,
  ).toBe(0)
  erin.remove()
})

test('settings come from flag, environment, project file and global file, in this order', async () => {
  const rows = async (args: string[], env: Record<string, string>) => {
    const { out } = await ada.run(['config', '--json', ...args], { env })
    const found = (JSON.parse(out) as { setting: string; value: string; origin: string }[]).find(
      ({ setting }) => setting === 'environment',
    )
    return [found?.value, found?.origin]
  }
  expect(await rows([], {})).toEqual(['development', 'default'])
  await ada.must('config', 'environment', 'qa')
  expect(await rows([], {})).toEqual(['qa', 'global file'])
  ada.write('.cloakroom.json', '{"environment":"staging"}')
  expect(await rows([], {})).toEqual(['staging', 'project file'])
  expect(await rows([], { SERVICE_ENVIRONMENT: 'preview' })).toEqual(['preview', 'environment'])
  expect(await rows(['-e', 'production'], { SERVICE_ENVIRONMENT: 'preview' })).toEqual([
    'production',
    'flag',
  ])
  ada.write('.cloakroom.json', '{}')
  await ada.must('config', 'environment', '--unset')
})

test('SERVICE_API_URL is another name of SERVICE_SERVER_URL', async () => {
  const { out } = await ada.run(['config', '--json'], {
    env: { SERVICE_SERVER_URL: '', SERVICE_API_URL: 'https://vault.example.com/' },
  })
  expect(JSON.parse(out)[0]).toEqual({
    setting: 'server',
    value: 'https://vault.example.com',
    origin: 'environment',
    from: 'SERVICE_API_URL',
  })
})

test('an unreachable server is exit 6', async () => {
  const { code, err } = await ada.run(['status'], {
    env: { SERVICE_SERVER_URL: 'http://127.0.0.1:1' },
  })
  expect(code).toBe(6)
  expect(err).toMatch(/the server at http\S+ cannot be reached/)
})

test('usage errors are exit 2, help is exit 0 and has examples', async () => {
  expect((await ada.run(['nonsense'])).code).toBe(2)
  expect((await ada.run(['login'])).code).toBe(2)
  expect((await ada.run(['login', 'a@b.example', '--nonsense'])).code).toBe(2)
  const help = await ada.run(['secrets', 'set', '--help'])
  expect(help.code).toBe(0)
  expect(help.out).toContain(
    'Examples:\n  $ cloakroom secrets set STRIPE_KEY=sk_live_1 MODE=live\n',
  )
})

test('a question without a terminal is exit 2 and names the option', async () => {
  const { code, err } = await ada.run(['login', 'ada@example.com'])
  expect({ code, err }).toEqual({
    code: 2,
    err: 'cloakroom: the question needs a terminal (terminal_required)\n→ give the password on standard input with --password-stdin\n',
  })
})

// The script starts the executable.
test('the completion scripts are valid in their shells', async () => {
  const script = await ada.must('completion', 'bash')
  const checked = watched(
    Bun.spawnSync([
      'bash',
      '-c',
      `${script}\nCOMP_WORDS=(${await executable()} secrets pu); COMP_CWORD=2; _cloakroom cloakroom pu secrets; echo "\${COMPREPLY[@]}"`,
    ]),
  )
  expect(checked.stdout.toString()).toBe('pull push\n')
  expect(await ada.must('completion', 'zsh')).toStartWith('#compdef cloakroom\n')
  expect(await ada.must('completion', 'fish')).toContain('complete -c cloakroom -f -a')
  expect((await ada.run(['completion', 'tcsh'])).code).toBe(2)
})

test('the first account of a server with an owner code needs it', async () => {
  const coded = await startTestApp({ OWNER_CODE: 'a code of the operator' })
  const eve = await openTerminal(coded)
  const args = ['register', 'eve@example.com', '--password-stdin', '--insecure-storage']
  const without = await eve.run(args, { stdin: PASSWORD })
  expect(without.code).not.toBe(0)
  expect(without.err).toContain('SERVICE_OWNER_CODE')
  const wrong = { stdin: PASSWORD, env: { SERVICE_OWNER_CODE: 'another' } }
  expect((await eve.run(args, wrong)).code).toBe(without.code)
  const right = { stdin: PASSWORD, env: { SERVICE_OWNER_CODE: 'a code of the operator' } }
  expect((await eve.run(args, right)).code).toBe(0)
  eve.remove()
  await coded.stop()
})
