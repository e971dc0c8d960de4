// tier: all
/** Executes the commands of docs/guides/teams.md, each on the machine of the person who types it. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import {
  openAccount,
  openRealAccount,
  openTerminal,
  PASSWORD,
  type Terminal,
} from '../cli/person.ts'
import { startTestApp, type TestApp, UNLIMITED } from '../support/app.ts'
import { marked } from '../support/canary.ts'
import { linesOf, scriptOf } from './blocks.ts'
import {
  addMember,
  changing,
  fingerprintOf,
  NEW_PASSWORD,
  NEXT_PASSWORD,
  typeAll,
  typeAt,
  YES,
} from './terminal.ts'
import { PASSPHRASE } from './typing.ts'

const VALUE = marked('postgres://')
const PLACE = ['-w', 'acme', '-p', 'payments']
const REFUSED = { code: 5 }

let app: TestApp
/** Owns acme. */
let ada: Terminal
/** Owns another workspace acme. */
let bob: Terminal
/** Joins Ada's acme with the lines of the page. Her session is under a passphrase. */
let grace: Terminal

beforeAll(async () => {
  app = await startTestApp(UNLIMITED)
  ada = await openRealAccount(app, 'ada@example.com')
  bob = await openRealAccount(app, 'bob@example.com')
  grace = await openTerminal(app)
}, 120_000)
afterAll(async () => {
  for (const person of [ada, bob, grace]) person.remove()
  await app.stop()
})

const placed = (line = '') => line.replace('https://vault.example.com', app.controlPlane)
const whoami = (person: Terminal, options = {}) =>
  typeAt(person, 'cloakroom whoami < /dev/null', {}, options)
const shownIn = (screen: string, name: string) =>
  new RegExp(`^${name} +(.+)$`, 'm').exec(screen)?.[1] ?? ''

test('an invitation is for the fingerprint that whoami prints, and the invited person reads secrets', async () => {
  const [create = '', invite = ''] = linesOf('docs/guides/teams.md', 'invite')
  const [register, show = '', ...join] = linesOf('docs/guides/teams.md', 'grace')
  await typeAt(ada, create)
  await ada.must('project', 'create', 'payments', '-w', 'acme')
  await ada.must('secrets', 'set', `URL=${VALUE}`, ...PLACE)
  await typeAt(grace, placed(register), NEW_PASSWORD)
  const fingerprint = shownIn(await typeAt(grace, show), 'fingerprint')
  expect(shownIn(await typeAt(ada, invite, YES), 'grace@example.com')).toBe(fingerprint)
  await typeAll(grace, join)
  await typeAt(grace, `test "$(cloakroom secrets get URL)" = ${VALUE}`)

  await bob.must('workspace', 'create', 'acme')
  const script = scriptOf('docs/guides/teams.md', 'script')
  const run = (given: string) => bob.shell(script.replace('abcd efgh …', given))
  expect(await run(await fingerprintOf(ada))).toMatchObject(REFUSED)
  const { code, out } = await run(fingerprint)
  expect([code, out]).toEqual([0, expect.stringMatching(/^grace@example.com +invited +member/m)])
}, 60_000)

test('a removed admin loses access, and a token that is not kept ends', async () => {
  const alan = await openAccount(app, 'alan@example.com')
  await addMember(ada, alan, 'alan@example.com', 'admin')
  const create = ['agent', 'create', 'bot', ...PLACE, '-q']
  const env = { SERVICE_TOKEN: (await alan.must(...create)).trim() }
  expect(await alan.run(['whoami'], { env })).toMatchObject({ code: 0 })
  const removing = { 'Remove alan@example.com from acme?': 'y', 'Keep the agent token': 'n' }
  const lines = linesOf('docs/guides/teams.md', 'remove')
  const [, rekeyed] = await typeAll(ada, lines, [removing, YES])
  expect(rekeyed).toContain('Epoch 2: 2 members')
  expect(await alan.run(['whoami'], { env })).toMatchObject({ code: 3 })
  expect(await alan.run(['secrets', 'get', 'URL', ...PLACE])).toMatchObject({ code: 4 })
  alan.remove()
}, 60_000)

test('after unlock no command asks for the passphrase, until lock', async () => {
  const [unlock = '', lock = ''] = linesOf('docs/guides/teams.md', 'unlock')
  const asking = { env: {} }
  try {
    await typeAt(grace, unlock, { Passphrase: PASSPHRASE.SERVICE_PASSPHRASE }, asking)
    await whoami(grace, asking)
  } finally {
    await typeAt(grace, lock, {}, asking)
  }
  await whoami(grace, { ...asking, code: 2 })
}, 60_000)

test('each command of an account does what its comment says', async () => {
  const lines = linesOf('docs/guides/teams.md', 'account')
  const other = await openTerminal(app)
  const login = ['login', 'bob@example.com', '--password-stdin', '--insecure-storage']
  const signIn = async (stdin: string) => (await other.spawn(login, { stdin })).code
  const isSignedOut = async () => expect(await other.run(['whoami'])).toMatchObject({ code: 3 })
  const password = { Password: NEXT_PASSWORD }
  const before = await fingerprintOf(bob)

  expect(await signIn(PASSWORD)).toBe(0)
  await typeAll(bob, lines.splice(0, 1), [changing(PASSWORD, NEXT_PASSWORD)])
  await isSignedOut()
  expect(await signIn(NEXT_PASSWORD)).toBe(0)
  const [renewed, sessions] = await typeAll(bob, lines.splice(0, 3), [password, {}, YES])
  expect(renewed).toContain('The previous recovery key no longer works.')
  expect(sessions?.match(/ cloakroom\//g)).toHaveLength(2)
  await isSignedOut()
  const [rotate = '', remove = ''] = lines
  await typeAt(bob, rotate, { ...YES, ...password })
  expect(await fingerprintOf(bob)).not.toBe(before)
  const refused = await typeAt(bob, remove, { ...YES, ...password }, REFUSED)
  expect(refused).toContain('you are a member of signed workspaces: acme')
  await bob.must('workspace', 'delete', 'acme', '--yes')
  await typeAt(bob, remove, { ...YES, ...password })
  expect(await signIn(NEXT_PASSWORD)).toBe(3)
  other.remove()
}, 60_000)

test('a machine with several accounts uses the chosen one', async () => {
  const office = await openTerminal(app)
  const register = `cloakroom register eve@example.com --name private --server ${app.controlPlane}`
  await typeAt(office, register, NEW_PASSWORD)
  await ada.must('project', 'create', 'tools', '-w', 'Personal')
  await ada.must('secrets', 'set', marked('AT_WORK='), '-w', 'Personal', '-p', 'tools')
  const lines = linesOf('docs/guides/teams.md', 'accounts').map(placed)
  const used = async (place = '.') =>
    shownIn(await typeAt(office, `cd ${place} && cloakroom whoami`), 'account')
  const [, listed] = await typeAll(office, lines.splice(0, 2), [{ Password: PASSWORD }])
  expect(listed).toMatch(/^work .*ada@example.com +here: /m)
  await typeAll(office, lines.splice(0, 2))
  expect([await used(), await used('..')]).toEqual(['work', 'private'])
  const [secrets] = await typeAll(office, lines)
  expect(secrets).toContain('AT_WORK')
  await whoami(office, { code: 3 })
  office.remove()
}, 60_000)

test('without a terminal, a token is sent to the server of a folder only while it is trusted', async () => {
  const clone = await openTerminal(app)
  const create = ['agent', 'create', 'cloner', ...PLACE, '-q']
  const env = { SERVICE_TOKEN: (await ada.must(...create)).trim() }
  const file = { server: app.controlPlane, resolver: app.resolver }
  clone.write('.cloakroom.json', JSON.stringify(file))
  const [trust = '', remove = ''] = linesOf('docs/guides/teams.md', 'trust')
  expect(await whoami(clone, { env, ...REFUSED })).toContain('nothing was sent')
  await typeAt(clone, trust)
  expect(await whoami(clone, { env })).toContain('cloner')
  await typeAt(clone, remove)
  await whoami(clone, { env, ...REFUSED })
  clone.remove()
}, 60_000)

test('accept-name accepts what a known name means now', async () => {
  const { id } = (await ada.json('workspace', 'create', 'next')) as { id: string }
  await ada.must('workspace', 'use', id)
  for (const name of ['payments', 'next']) {
    await ada.must('project', 'create', name)
    await ada.must('agent', 'create', name.replace('payments', 'deploy-bot'), '-p', name)
  }
  const { sql } = app.connection
  const changed = { workspaces: 'acme', projects: 'payments', agents: 'deploy-bot' }
  for (const [table, name] of Object.entries(changed)) {
    await sql`update ${sql(table)} set name = 'former' where name = ${name}`
    await sql`update ${sql(table)} set name = ${name} where name = 'next'`
  }
  const uses = ['workspace members -w acme', 'secrets list -p payments', 'token list deploy-bot']
  for (const [at, line] of linesOf('docs/guides/teams.md', 'names').entries()) {
    const use = `cloakroom ${uses[at]}`
    expect(await typeAt(ada, use, {}, REFUSED)).toContain('but the server now shows')
    await typeAll(ada, [line, use], [YES])
  }
}, 60_000)
