// tier: quick
/** Commands inside another program: they run in parallel, each with its own environment, and leave no trace. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createAuthority } from '../../src/cli/demo/certificates.ts'
import { logInByPassword } from '../../src/client/account/log_in.ts'
import { serverTrust } from '../../src/client/http/trust.ts'
import { freshEmail, sharedApp, type TestApp } from '../support/app.ts'
import { cheapArgon2id } from '../support/cheap_argon2id.ts'
import { openAccount, openTerminal, PASSWORD, type Terminal } from './person.ts'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2']

let app: TestApp
let ada: Terminal
let bob: Terminal
const [adasEmail, bobsEmail] = [freshEmail('ada'), freshEmail('bob')]

beforeAll(async () => {
  app = await sharedApp()
  ada = await openAccount(app, adasEmail)
  bob = await openAccount(app, bobsEmail)
})
afterAll(() => {
  ada.remove()
  bob.remove()
})

const listeners = () => [
  ...SIGNALS.map((signal) => process.listenerCount(signal)),
  ...[process.stdout, process.stderr, process.stdin].map((stream) => stream.eventNames()),
]

test('two commands run in parallel, each with its own home, folder, environment and output', async () => {
  const own = (person: Terminal, name: string) => async () => {
    await person.must('init', name)
    const { out } = await person.run(['config', '--json'], { env: { SERVICE_ENVIRONMENT: name } })
    const { email } = (await person.json('whoami')) as { email: string }
    const places = JSON.parse(out) as { setting: string; value: string }[]
    return [email, places.find(({ setting }) => setting === 'environment')?.value]
  }
  const all = await Promise.all([own(ada, 'first')(), own(bob, 'second')()])
  expect(all).toEqual([
    [adasEmail, 'first'],
    [bobsEmail, 'second'],
  ])
  for (const person of [ada, bob])
    expect(existsSync(join(person.cwd, '.cloakroom.json'))).toBe(true)
})

test('a relative path belongs to the folder of its command', async () => {
  for (const [person, text] of [
    [ada, 'A_KEY=of ada\n'],
    [bob, 'A_KEY=of bob\n'],
  ] as const) {
    mkdirSync(join(person.cwd, 'inner'))
    writeFileSync(join(person.cwd, 'inner', 'values.env'), text)
  }
  const push = (person: Terminal) =>
    person.run(['secrets', 'push', '../inner/values.env'], { cwd: join(person.cwd, 'inner') })
  const [first, second] = await Promise.all([push(ada), push(bob)])
  expect([first?.code, second?.code]).toEqual([0, 0])
  expect(await ada.must('secrets', 'get', 'A_KEY')).toBe('of ada')
  expect(await bob.must('secrets', 'get', 'A_KEY')).toBe('of bob')
  await bob.must('secrets', 'pull', 'out.env')
  expect([existsSync(join(bob.cwd, 'out.env')), existsSync('out.env')]).toEqual([true, false])
})

test("a program started by a command has that command's folder, environment, input and output", async () => {
  const script = 'pwd; echo "$A_KEY $EXTRA"; cat; echo said >&2; exit 7'
  const ran = await ada.run(['run', '--no-mask', '--', 'sh', '-c', script], {
    env: { EXTRA: 'more' },
    stdin: 'typed\n',
  })
  expect(ran).toEqual({ code: 7, out: `${ada.cwd}\nof ada more\ntyped\n`, err: 'said\n' })
})

test('an authority that one command trusts is trusted by no other', async () => {
  const authority = await createAuthority('Of one command')
  const { cert, key } = await authority.issue(['localhost'])
  const server = Bun.serve({
    hostname: 'localhost',
    port: 0,
    tls: { cert, key },
    fetch: async (request) => {
      const { method } = request
      const headers = { 'content-type': 'application/json' }
      const body = method === 'GET' ? null : await request.arrayBuffer()
      const url = `${app.controlPlane}${new URL(request.url).pathname}`
      const answer = await fetch(url, { method, headers, body })
      return new Response(answer.body, { status: answer.status, headers: answer.headers })
    },
  })
  const gateway = await openTerminal({ ...app, controlPlane: `https://localhost:${server.port}` })
  gateway.write('ca.pem', authority.certificate)
  const enter = async (...args: string[]) => {
    const login = ['login', adasEmail, '--password-stdin', '--insecure-storage', ...args]
    const { err } = await gateway.run(login, { stdin: 'not the password' })
    return /certificate is not trusted/.test(err) ? 'not trusted' : err.split('\n')[0]
  }
  const wrong = expect.stringContaining('invalid_credentials')
  const trusting = () => enter('--ca-file', 'ca.pem')
  expect(await Promise.all([trusting(), enter(), trusting()])).toEqual([
    wrong,
    'not trusted',
    wrong,
  ])
  expect([await trusting(), await enter()]).toEqual([wrong, 'not trusted'])
  expect(serverTrust().tls.ca).toBeUndefined()
  gateway.remove()
  await server.stop(true)
})

test('no command leaves a listener, an exit code or another working directory behind', async () => {
  const before = { listeners: listeners(), exitCode: process.exitCode, cwd: process.cwd() }
  await ada.run(['run', '--', 'true'])
  await ada.run(['secrets', 'nonsense'])
  await ada.run(['__complete', 'secrets', 'pu'])
  await ada.run(['mcp'], { env: { SERVICE_TOKEN: 'no token' } })
  await ada.run(['run', '--fallback', 'kept', '--', 'true'])
  await ada.run(['keygen'])
  expect({ listeners: listeners(), exitCode: process.exitCode, cwd: process.cwd() }).toEqual(before)
})

test('a cheap key derivation is the caller’s choice: the same password opens nothing with Argon2id', async () => {
  const opened = await logInByPassword(app.controlPlane, adasEmail, PASSWORD, cheapArgon2id)
  expect(opened.email).toBe(adasEmail)
  await expect(logInByPassword(app.controlPlane, adasEmail, PASSWORD)).rejects.toMatchObject({
    code: 'invalid_credentials',
  })
})
