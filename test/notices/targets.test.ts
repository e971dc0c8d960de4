// tier: quick, both databases in test:all
/** The endpoints of notice targets, and the notices that existing parts of the product cause. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import {
  createNoticeTarget,
  deleteNoticeTarget,
  listNotices,
  listNoticeTargets,
  testNoticeTarget,
} from '../../src/features/notices/contract.ts'
import { noticeEvents } from '../../src/notices/notice.ts'
import { Notices } from '../../src/notices/notices.ts'
import { RefusalNotices } from '../../src/notices/refusals.ts'
import { keepNotices } from '../../src/notices/upkeep.ts'
import { API, createAgentWithToken, openStage, resolveAs, type Stage } from '../support/agent.ts'
import { FakeTimers } from '../support/fake_timers.ts'
import { registerPerson } from '../support/people.ts'
import { answerOf } from '../support/upstream.ts'
import { openNoticeTeam } from './support.ts'

const timers = new FakeTimers()
let stage: Stage

beforeAll(async () => {
  stage = await openStage({ timers })
})
afterAll(() => stage.stop())

const sql = () => stage.app.connection.sql
const parts = () => ({
  ...stage.app.connection,
  ...stage.app,
  log: silent,
  notices: new Notices({ ...stage.app.connection, ...stage.app, log: silent }),
})
const silent = { debug() {}, info() {}, warning() {}, error() {} } as never

const causesOf = async (targetId: string) =>
  (await sql()`select cause from notices where target_id = ${targetId} order by cause`).map(
    ({ cause }) => cause,
  )

test('a URL and a signing key are shown once and stored under the outer layer only', async () => {
  const { api, params, add, workspaceId } = await openNoticeTeam(stage, timers)
  const created = await add('/very-secret-path', { events: ['rekey.due', 'rekey.due'] })
  expect(created).toEqual({
    id: expect.any(String),
    type: 'webhook',
    host: expect.any(String),
    events: ['rekey.due'],
    created_at: expect.any(String),
    signing_key: expect.stringMatching(/^[\w-]{43}$/),
  })
  const slack = await add('/very-secret-path', { type: 'slack' })
  expect(slack.signing_key).toBeNull()
  const listed = await api.list(listNoticeTargets, { params })
  const { signing_key, ...shown } = created
  expect(listed[0]).toEqual(shown)
  const rows = await sql()`select t::text from notice_targets t where workspace_id = ${workspaceId}`
  const [change] = await sql()`
    select resource::text from audit_changes where workspace_id = ${workspaceId} and action = 'notice_target.created'
    union all select resource::text from audit_logs where workspace_id = ${workspaceId} and action = 'notice_target.created'`
  for (const text of [
    JSON.stringify([...rows, change]),
    JSON.stringify(listed),
    stage.app.logs.join(),
  ]) {
    expect(text).not.toContain('very-secret-path')
    expect(text).not.toContain(signing_key ?? '-')
  }
  expect(JSON.stringify(change)).toContain('webhook')
})

test('a target of another workspace is not found, listed or written to', async () => {
  const own = await openNoticeTeam(stage, timers)
  const foreign = await openNoticeTeam(stage, timers)
  const { id } = await foreign.add('/foreign')
  await foreign.test(id)
  const params = { ...own.params, target_id: id }
  await expect(own.api.call(deleteNoticeTarget, { params })).rejects.toMatchObject({ status: 404 })
  await expect(own.api.call(testNoticeTarget, { params, body: {} })).rejects.toMatchObject({
    status: 404,
  })
  expect(await own.api.list(listNoticeTargets, { params: own.params })).toEqual([])
  expect(await own.api.list(listNotices, { params: own.params, query: { target_id: id } })).toEqual(
    [],
  )
  expect(await foreign.log(id)).toHaveLength(1)
})

test('members without the role see neither targets nor notices', async () => {
  const team = await openNoticeTeam(stage, timers)
  const { params } = team
  for (const role of ['member', 'read_only'] as const) {
    const { api } = await team.join(role)
    for (const call of [
      () => api.list(listNoticeTargets, { params }),
      () => api.list(listNotices, { params }),
      () =>
        api.call(createNoticeTarget, {
          params,
          body: { type: 'webhook', url: 'https://a.example/', events: ['rekey.due'] },
        }),
    ])
      await expect(call()).rejects.toMatchObject({ status: 403 })
  }
})

test('the delivery log is read by pages, newest first', async () => {
  const { api, params, add, test: queueTest, log } = await openNoticeTeam(stage, timers)
  const { id } = await add('/paged')
  for (let at = 0; at < 7; at += 1) await queueTest(id)
  const first = await api.list(listNotices, { params, query: { target_id: id, limit: 2 } })
  expect(new Set(first.map((notice) => notice.id)).size).toBe(7)
  expect(await log(id)).toHaveLength(7)
})

test('a deleted target and the others get one last notice, and then its secret is deleted', async () => {
  const {
    api,
    params,
    add,
    test: queueTest,
    log,
    send,
    received,
  } = await openNoticeTeam(stage, timers)
  stage.upstream.on('/ending', (_, wire) => void wire.write(answerOf(503, {})))
  const ending = await add('/ending', { events: ['rekey.due'] })
  const other = await add('/other')
  await queueTest(ending.id)
  await send(async () => (await log(ending.id))[0]?.last_error === 'http_503')
  stage.upstream.on('/ending', (_, wire) => void wire.write(answerOf(200, {})))
  await api.call(deleteNoticeTarget, { params: { ...params, target_id: ending.id } })
  expect((await api.list(listNoticeTargets, { params })).map(({ id }) => id)).toEqual([other.id])
  await send(() => received('/other').length === 1)
  await send(() => received('/ending').length === 2)
  const [, last] = received('/ending').map(({ body }) => JSON.parse(Buffer.from(body).toString()))
  expect(last).toMatchObject({ event: 'notice_target.deleted', host: expect.any(String) })
  await send(async () => (await log(ending.id)).every(({ status }) => status !== 'queued'))
  expect(await log(ending.id)).toContainEqual({
    event: 'notice_target.test',
    status: 'failed',
    attempts: 1,
    last_error: 'target_deleted',
  })
  await keepNotices(parts())
  expect(await sql()`select 1 from notice_targets where id = ${ending.id}`).toHaveLength(0)
})

test('a rejected call is announced once per agent, host, code and hour', async () => {
  const agent = await createAgentWithToken(stage, { secrets: { KEY: 'a value' } })
  const { api } = agent.person
  const { id } = await api.call(createNoticeTarget, {
    params: { workspace_id: agent.workspaceId },
    body: { type: 'webhook', url: stage.url('/refused'), events: ['call.refused'] },
  })
  const call = (target_url: string, name = 'KEY') =>
    resolveAs(stage.app.resolver, agent.token, {
      target_url,
      headers: { 'x-key': `SVC_SECRET_${name}` },
    })
  for (let at = 0; at < 3; at += 1) {
    expect((await call('https://blocked.example/secret/path?token=secret')).status).toBe(403)
    expect((await call(stage.url('/'), 'MISSING')).status).toBe(422)
    expect((await call(stage.url('/'))).status).toBe(200)
  }
  const rows = await sql()`select body from notices where target_id = ${id} order by cause`
  expect(rows.map(({ body }) => body)).toEqual([
    {
      agent: expect.stringMatching(/^agent-\d+$/),
      host: 'blocked.example',
      secrets: ['KEY'],
      method: 'GET',
      code: 'domain_blocked',
    },
    {
      agent: expect.stringMatching(/^agent-\d+$/),
      host: API,
      method: 'GET',
      code: 'unknown_secret',
      secrets: ['MISSING'],
    },
  ])
  expect(JSON.stringify(rows)).not.toMatch(/secret\/path|token=|a value/)
})

test('a flood of rejected calls queues at most 20 notices of an agent in an hour', async () => {
  const announced: string[] = []
  const notices = {
    announce: async (_: string, { cause }: { cause: string }) => void announced.push(cause),
  } as unknown as Notices
  let now = 0
  const refusals = new RefusalNotices(notices, { now: () => now })
  const refusal = {
    workspaceId: Bun.randomUUIDv7(),
    tokenId: Bun.randomUUIDv7(),
    registrationId: null,
    name: 'bot',
    method: 'GET',
    secrets: [],
  }
  const flood = () => {
    for (let at = 0; at < 50_000; at += 1)
      refusals.note({ ...refusal, host: `${at}.example`, code: 'domain_blocked' })
  }
  flood()
  expect(announced).toHaveLength(20)
  refusals.note({ ...refusal, host: 'a.example', code: 'malformed_json' })
  now += 3_600_000
  flood()
  expect(new Set(announced).size).toBe(40)
})

test('tokens are announced 7 days and 1 day before they expire, once each', async () => {
  const agent = await createAgentWithToken(stage, {})
  const { id } = await agent.person.api.call(createNoticeTarget, {
    params: { workspace_id: agent.workspaceId },
    body: { type: 'webhook', url: stage.url('/expiring'), events: ['token.expiring'] },
  })
  const expiring = async (expires: string, created: string) => {
    await sql().unsafe(
      `update tokens set expires_at = now() + interval '${expires}', created_at = now() - interval '${created}' where id = '${agent.tokenId}'`,
    )
    for (const _ of [1, 2]) await keepNotices(parts())
    return (await causesOf(id)).map((cause) => cause.split('/').at(-1))
  }
  expect(await expiring('8 days', '30 days')).toEqual([])
  // A token that lives for 3 days is not announced when it is issued.
  expect(await expiring('3 days', '0 days')).toEqual([])
  expect(await expiring('6 days', '30 days')).toEqual(['7d'])
  expect(await expiring('23 hours', '30 days')).toEqual(['1d', '7d'])
  expect(await expiring('-1 hours', '30 days')).toEqual(['1d', '7d'])
})

test('an invitation and a due rekey are announced', async () => {
  const team = await openNoticeTeam(stage, timers)
  const { id } = await team.add('/people', { events: ['member.invited', 'rekey.due'] })
  const person = await registerPerson(stage.app)
  await team.invite(person, 'admin')
  await team.invite(person, 'member')
  await sql()`update workspaces set rekey_required = true where id = ${team.workspaceId}`
  for (const _ of [1, 2]) await keepNotices(parts())
  const rows =
    await sql()`select event, body from notices where target_id = ${id} order by event, body->>'code'`
  expect(rows.map(({ event, body }) => [event, body])).toEqual([
    ['member.invited', { member: person.email, code: 'admin' }],
    ['member.invited', { member: person.email, code: 'member' }],
    ['rekey.due', { command: 'cloakroom workspace rekey' }],
  ])
})

test('upkeep fails notices that were never sent, and deletes those that ended 7 days ago', async () => {
  const { workspaceId, add, test: queueTest, log, send } = await openNoticeTeam(stage, timers)
  const { id } = await add('/old')
  await queueTest(id)
  await send(async () => (await log(id))[0]?.status === 'delivered')
  await sql()`
    insert into notices (id, workspace_id, target_id, event, cause, body, created_at, next_at)
    values (${Bun.randomUUIDv7()}, ${workspaceId}, ${id}, 'rekey.due', 'x', '{}', now() - interval '26 hours', now() + interval '1 hour')`
  await sql()`update notices set next_at = now() - interval '8 days' where target_id = ${id} and status = 'delivered'`
  await keepNotices(parts())
  expect(await log(id)).toEqual([
    { event: 'rekey.due', status: 'failed', attempts: 0, last_error: 'not_sent' },
  ])
})

test('every event can be chosen, and no other', async () => {
  const { add, api, params } = await openNoticeTeam(stage, timers)
  expect((await add('/all', { events: [...noticeEvents] })).events).toEqual([...noticeEvents])
  const body = { type: 'webhook', url: 'https://a.example/', events: ['notice_target.test'] }
  await expect(api.call(createNoticeTarget, { params, body: body as never })).rejects.toMatchObject(
    { status: 422 },
  )
})
