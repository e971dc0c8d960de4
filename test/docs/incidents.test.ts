// tier: all
/** Executes the commands of docs/guides/incidents.md, one incident after the other in one team. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import {
  openAccount,
  openRealAccount,
  openTerminal,
  PASSWORD,
  type Terminal,
} from '../cli/person.ts'
import { BOTH, environmentOf, NEW, OLD } from '../operator/rekey_outer/support.ts'
import { startTestApp, type TestApp, UNLIMITED } from '../support/app.ts'
import { marked } from '../support/canary.ts'
import { preparedDatabase, type TestDatabase } from '../support/database.ts'
import { linesOf } from './blocks.ts'
import {
  addMember,
  changing,
  NEW_PASSWORD,
  NEXT_PASSWORD,
  typeAll,
  typeAt,
  YES,
} from './terminal.ts'

const VALUE = marked('sk_live_incident')
const PLACE = ['-w', 'acme', '-p', 'payments']

let database: TestDatabase
let app: TestApp
/** Owns acme. */
let grace: Terminal
/** An admin of acme: her laptop, and the machine that she uses after its loss. */
let laptop: Terminal
let ada: Terminal
/** The results of one incident that the next one uses. */
let token = ''
let recoveryKey = ''

const start = (keys: string) => startTestApp({ ...UNLIMITED, ENCRYPTION_KEY: keys }, { database })

beforeAll(async () => {
  database = await preparedDatabase()
  app = await start(OLD)
  grace = await openRealAccount(app, 'grace@example.com')
  laptop = await openRealAccount(app, 'ada@example.com')
  ada = await openTerminal(app)
  await grace.must('workspace', 'create', 'acme')
  await addMember(grace, laptop, 'ada@example.com', 'admin')
  await laptop.must('workspace', 'use', 'acme')
  await laptop.must('init', 'payments')
  await laptop.must('secrets', 'set', `KEY=${VALUE}`)
}, 120_000)
afterAll(async () => {
  for (const person of [grace, laptop, ada]) person.remove()
  await app.stop()
  database.remove()
})

const placed = (line: string) => line.replace('https://vault.example.com', app.controlPlane)
const isEnded = async (SERVICE_TOKEN: string) =>
  (await laptop.run(['whoami'], { env: { SERVICE_TOKEN } })).code === 3

test('a leaked token is identified and revoked, its calls are listed, and another one is issued', async () => {
  const leaked = await laptop.must('agent', 'create', 'deploy-bot', '--label', 'laptop', '-q')
  const ci = (await laptop.must('workload-token', 'issue', 'ci', '-q')).trim()
  laptop.write('leaked.txt', leaked)
  const call = ['call', 'https://api.example.com/', '--token', leaked.trim()]
  expect(await laptop.run(call)).toMatchObject({ code: 5 })
  await app.flushAudit()
  const [identify = '', ...lines] = linesOf('docs/guides/incidents.md', 'token')
  const env = { SERVICE_RESOLVER_URL: app.resolver }
  expect(await typeAt(laptop, identify, {}, { env })).toMatch(/^name +deploy-bot$/m)
  const [, , calls, issued = ''] = await typeAll(laptop, lines)
  expect([await isEnded(leaked.trim()), await isEnded(ci)]).toEqual([true, true])
  expect(calls).toContain('api.example.com')
  token = /svc_agt_\S+/.exec(issued)?.[0] ?? ''
  expect(await isEnded(token)).toBe(false)
}, 60_000)

test('after the loss of a laptop, its session, its tokens and its keys are useless', async () => {
  await laptop.reveal('secrets', 'get', 'KEY')
  await app.flushAudit()
  const lines = linesOf('docs/guides/incidents.md', 'laptop').map(placed)
  await typeAll(ada, lines.splice(0, 2), [{ Password: PASSWORD }])
  expect(await laptop.run(['whoami'])).toMatchObject({ code: 3 })
  const rotating = { ...YES, 'Keep the agent token': 'n', Password: NEXT_PASSWORD }
  const answers = [changing(PASSWORD, NEXT_PASSWORD), rotating, YES]
  const [, rotated, rekeyed, reads] = await typeAll(ada, lines, answers)
  expect(rotated).toContain('\n  cloakroom workspace rekey -w acme\n')
  expect(await isEnded(token)).toBe(true)
  expect(rekeyed).toContain('Epoch 2')
  expect(reads).toMatch(/ada@example.com +secret.read +KEY/)
}, 60_000)

test('a person who left reads nothing more, and what they read is listed', async () => {
  const alan = await openAccount(app, 'alan@example.com')
  await addMember(grace, alan, 'alan@example.com', 'member')
  expect(await alan.reveal('secrets', 'get', 'KEY', ...PLACE)).toBe(VALUE)
  await grace.must('workload-token', 'issue', 'deploy', ...PLACE)
  await app.flushAudit()
  const lines = linesOf('docs/guides/incidents.md', 'left')
  const [, rekeyed, verified, ...lists] = await typeAll(grace, lines, [YES, YES])
  expect(await alan.run(['secrets', 'get', 'KEY', ...PLACE])).toMatchObject({ code: 4 })
  expect([rekeyed, verified, ...lists]).toEqual([
    expect.stringContaining('Epoch 3'),
    expect.stringMatching(/^verdict +verified$/m),
    expect.stringMatching(/alan@example.com +secret.read +KEY/),
    expect.stringMatching(/^laptop +revoked/m),
    expect.stringMatching(/^deploy +active/m),
  ])
  alan.remove()
}, 60_000)

test('after the theft of a database, members replace their keys and verify the workspace', async () => {
  const lines = linesOf('docs/guides/incidents.md', 'stolen')
  const answers = [changing(NEXT_PASSWORD, PASSWORD), { ...YES, Password: PASSWORD }]
  const [, rotated = '', verified] = await typeAll(ada, lines, answers)
  recoveryKey = /^([\da-f]{8}-){7}[\da-f]{8}$/m.exec(rotated)?.[0] ?? ''
  expect(verified).toMatch(/^verdict +verified$/m)
}, 60_000)

test('a lost password is replaced with the recovery key, or the person is replaced', async () => {
  const [recover = '', ...replace] = linesOf('docs/guides/incidents.md', 'lost')
  const machine = await openTerminal(app)
  const recovering = { 'Recovery key': recoveryKey, ...NEW_PASSWORD }
  await typeAll(machine, [placed(recover), 'cloakroom whoami'], [recovering])
  await typeAt(ada, 'cloakroom whoami', {}, { code: 3 })
  const replacement = await openAccount(app, 'ada.new@example.com')
  await typeAll(grace, replace, [YES, YES])
  const members = await grace.json('workspace', 'members', '-w', 'acme')
  expect(members).toMatchObject([
    { email: 'grace@example.com', status: 'active' },
    { email: 'ada.new@example.com', status: 'invited' },
  ])
  for (const person of [machine, replacement]) person.remove()
}, 60_000)

test('after a leak of the server keys, rekey-outer moves the data, and the old key can be removed', async () => {
  await app.stop()
  app = await start(BOTH)
  for (const line of linesOf('docs/guides/incidents.md', 'server'))
    expect(await grace.shell(line, environmentOf(app))).toMatchObject({ code: 0 })
  await app.stop()
  app = await start(NEW)
  const other = await openTerminal(app)
  const login = `cloakroom login grace@example.com --server ${app.controlPlane}`
  const get = `test "$(cloakroom secrets get KEY ${PLACE.join(' ')})" = ${VALUE}`
  await typeAll(other, [login, get], [{ Password: PASSWORD }])
  other.remove()
}, 60_000)
