// tier: all
/** Executes the commands of docs/guides/approvals.md: a person in a terminal, and an agent outside of one. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { openRealAccount, type Terminal } from '../cli/person.ts'
import { openStage, type Stage } from '../support/agent.ts'
import { marked } from '../support/canary.ts'
import { linesOf } from './blocks.ts'
import { typeAt, YES } from './terminal.ts'
import { PASSPHRASE } from './typing.ts'

const VALUE = marked('sk_live_payout')

let stage: Stage
let ada: Terminal

const [set = '', call = '', allow = ''] = linesOf('docs/guides/approvals.md', 'hold')

beforeAll(async () => {
  stage = await openStage({ names: ['api.stripe.com'] })
  ada = await openRealAccount(stage.app, 'ada@example.com')
  await ada.must('init', 'billing')
  await ada.must('allowlist', 'add', stage.authorityOf('api.stripe.com'))
  await typeAt(ada, 'cloakroom agent create deploy-bot --save')
}, 120_000)
afterAll(async () => {
  ada.remove()
  await stage.stop()
})

/** Executes a call of the agent. */
const executeCall = (line = call) =>
  ada.shell(line.replace('api.stripe.com', stage.authorityOf('api.stripe.com')), PASSPHRASE)

/** The ID of the request that a refused call leaves. */
async function requestBy(line = call): Promise<string> {
  const { code, err } = await executeCall(line)
  const [id = ''] = /[0-9a-f-]{36}/.exec(err) ?? []
  expect([code, err]).toEqual([
    5,
    expect.stringMatching(/Do not approve it yourself.*\(approval_required\)/),
  ])
  return id
}

/** Types a line with the ID of a request or proposal in place of the printed one. */
const typeFor = (id: string, line: string, answers = {}) =>
  typeAt(ada, line.replace(/9f6b7d10|3c1d9a77/, id.slice(-8)), answers)
const received = () => stage.upstream.received.splice(0)

test('the call of the page is refused until a person allows it, and then succeeds once', async () => {
  await typeAt(ada, set, { 'Value of PAYOUT_KEY': VALUE })
  await typeFor(await requestBy(), allow, YES)
  expect(await executeCall()).toEqual({ code: 0, out: '{"ok":true}', err: '' })
  await requestBy()
  const [request, ...others] = received()
  expect([request?.method, request?.path, others]).toEqual(['POST', '/v1/payouts', []])
  expect(request?.header('authorization')).toBe(`Bearer ${VALUE}`)
  expect(new TextDecoder().decode(request?.body)).toBe('amount=2000')
}, 60_000)

test('a window covers the methods and the path of the page, with any body', async () => {
  await ada.must('policy', 'set', 'PAYOUT_KEY', '--approval', 'member', '--approval-ttl', '15m')
  const charge = call.replace('payouts', 'charges')
  const id = await requestBy(charge)
  for (const line of linesOf('docs/guides/approvals.md', 'window')) await typeFor(id, line, YES)
  for (const other of [charge.replace('2000', '3'), charge.replace(/ -d .*/, '')])
    expect(await executeCall(other)).toMatchObject({ code: 0 })
  await requestBy()
  const requests = received().map(({ method, path }) => `${method} ${path}`)
  expect(requests).toEqual(['POST /v1/charges', 'GET /v1/charges'])
}, 60_000)

test('each command about requests does what its comment says', async () => {
  const [watch = '', list = '', show = '', ...decisions] = linesOf(
    'docs/guides/approvals.md',
    'decide',
  )
  const [watched, first, second] = [
    await requestBy(),
    await requestBy(call.replace('2000', '1')),
    await requestBy(call.replace('2000', '2')),
  ]
  const listed = await typeAt(ada, list)
  for (const id of [watched, first, second]) expect(listed).toContain(id)
  expect(await typeFor(first, show)).toContain('│ amount=1\n')
  expect(await typeFor(first, show.replace(/#.*(--body).*/, '$1'))).toBe('amount=1')
  const INTERRUPT = '\u0003'
  await typeAt(ada, watch, { 'Allow POST': 'y', 'Allowed once': INTERRUPT }, { code: 130 })
  expect(await executeCall()).toMatchObject({ code: 0 })
  const [allow = '', deny = '', revoke = ''] = decisions
  await typeFor(first, allow, YES)
  await typeFor(second, deny)
  await typeFor(first, revoke, YES)
  const statusOf = (id: string) => ada.json('approvals', 'show', id)
  expect(await Promise.all([watched, first, second].map(statusOf))).toMatchObject([
    { status: 'used' },
    { status: 'revoked' },
    { status: 'denied' },
  ])
  const { code, err } = await executeCall(call.replace('2000', '3'))
  expect([code, err]).toEqual([5, expect.stringContaining('approval_denied')])
}, 60_000)

test('an accepted proposal is stored in the project and environment of the line, a rejected one is not', async () => {
  const [list = '', accept = '', reject = ''] = linesOf('docs/guides/approvals.md', 'proposals')
  const propose = async (host: string) => {
    const proposal = `--reason 'It posts there' --host ${host} --secret NEW`
    const line = `cloakroom proposals create --agent deploy-bot ${proposal} -q`
    return (await ada.shell(line, PASSPHRASE)).out.trim()
  }
  const [one, two] = [await propose('one.example.com'), await propose('two.example.com')]
  expect(await typeAt(ada, list)).toMatch(new RegExp(`${two}\\n.*${one}\\n`))
  await typeFor(one, accept, { 'Make these changes?': 'y', 'Value of NEW': VALUE })
  await typeFor(two, reject)
  expect(await ada.reveal('secrets', 'get', 'NEW', '-p', 'billing', '-e', 'production')).toBe(VALUE)
  const hosts = JSON.stringify(await ada.json('allowlist', 'list'))
  expect(hosts).toContain('one.example.com')
  expect(hosts).not.toContain('two.example.com')
}, 60_000)
