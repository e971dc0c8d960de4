// tier: quick, both databases in test:all
/** Queued notices are sent, retried and marked. No test waits: the timers are the test's own. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { Notices } from '../../src/notices/notices.ts'
import { openStage, type Stage } from '../support/agent.ts'
import { FakeTimers } from '../support/fake_timers.ts'
import { until } from '../support/until.ts'
import { answerOf } from '../support/upstream.ts'
import { isSigned, openNoticeTeam } from './support.ts'

const INNER = 'inner.example'
const timers = new FakeTimers()
let stage: Stage

beforeAll(async () => {
  stage = await openStage({
    timers,
    names: [INNER],
    env: { SERVICE_SERVER_URL: 'https://vault.example.com' },
  })
})
afterAll(() => stage.stop())

const notices = () => new Notices({ ...stage.app.connection, ...stage.app, log: silent })
const silent = { debug() {}, info() {}, warning() {}, error() {} } as never
const sql = () => stage.app.connection.sql
const makeDue = (id: string) =>
  sql()`update notices set next_at = now() where target_id = ${id} and status = 'queued'`

test('a webhook receives a notice within a second, with a signature that its key verifies', async () => {
  const { workspaceId, add, log, received } = await openNoticeTeam(stage, timers)
  const { id, signing_key } = await add('/signed')
  await notices().announce(workspaceId, {
    event: 'call.refused',
    cause: 'one',
    fields: { agent: 'bot', host: 'a.example', code: 'domain_blocked', page: '/audit' },
  })
  await timers.advance(15_000)
  await until(async () => (await log(id))[0]?.status === 'delivered')
  const [request] = received('/signed')
  const body = request?.body ?? new Uint8Array()
  const header = request?.header('x-cloakroom-signature')
  expect(JSON.parse(Buffer.from(body).toString())).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    event: 'call.refused',
    workspace: { id: workspaceId, name: 'Team' },
    created_at: expect.stringMatching(/^\d{4}-.*Z$/),
    agent: 'bot',
    host: 'a.example',
    code: 'domain_blocked',
    link: 'https://vault.example.com/audit',
  })
  expect(isSigned(signing_key ?? '', header, body)).toBe(true)
  expect(isSigned('another key', header, body)).toBe(false)
  expect(isSigned(signing_key ?? '', header, Buffer.concat([body, Buffer.from(' ')]))).toBe(false)
  expect(await log(id)).toEqual([
    { event: 'call.refused', status: 'delivered', attempts: 1, last_error: null },
  ])
})

test('a test notice wakes the sender without the timer of 15 seconds', async () => {
  const { add, test: queueTest, log } = await openNoticeTeam(stage, timers)
  const { id } = await add('/woken')
  await queueTest(id)
  await timers.expire(250)
  await until(async () => (await log(id))[0]?.status === 'delivered')
})

test('a target that fails gets the notice again with the same ID, after growing pauses', async () => {
  const { add, test: queueTest, log, send, received } = await openNoticeTeam(stage, timers)
  stage.upstream.on('/down', (_, wire) => void wire.write(answerOf(500, {}, 'secret text')))
  const { id } = await add('/down')
  await queueTest(id)
  const pauses: number[] = []
  for (let attempt = 1; attempt <= 7; attempt += 1) {
    await send(
      async () =>
        (await log(id))[0]?.last_error === 'http_500' && received('/down').length >= attempt,
    )
    await until(async () => {
      const [row] = await sql()`
        select extract(epoch from next_at - attempted_at)::float8 as pause from notices
        where target_id = ${id}`
      // A claim moves it ahead by a minute until the attempt has ended.
      const isMarked = (await log(id))[0]?.attempts === attempt && Math.abs(row?.pause - 60) > 0.001
      if (isMarked) pauses.push(Math.floor(row?.pause))
      return isMarked
    })
    await makeDue(id)
  }
  expect(pauses).toEqual([10, 30, 120, 600, 1_800, 3_600, 3_600])
  const ids = received('/down').map(({ body }) => JSON.parse(Buffer.from(body).toString()).id)
  expect(new Set(ids).size).toBe(1)
  await sql()`update notices set created_at = now() - interval '24 hours 1 second' where target_id = ${id}`
  await makeDue(id)
  await send(async () => (await log(id))[0]?.status === 'failed')
  expect(await log(id)).toEqual([
    { event: 'notice_target.test', status: 'failed', attempts: 8, last_error: 'http_500' },
  ])
  expect(JSON.stringify(stage.app.logs)).not.toContain('secret text')
})

test('Retry-After postpones the next attempt by an hour at most', async () => {
  const { add, test: queueTest, log, send } = await openNoticeTeam(stage, timers)
  for (const [path, header, least, most] of [
    ['/soon', '900', 899, 901],
    ['/late', '999999', 3_599, 3_601],
    ['/odd', '-1, soon', 9, 11],
  ] as const) {
    stage.upstream.on(path, (_, wire) => void wire.write(answerOf(429, { 'retry-after': header })))
    const { id } = await add(path)
    await queueTest(id)
    await send(async () => (await log(id))[0]?.last_error === 'http_429')
    const [row] = await sql()`
      select extract(epoch from next_at - attempted_at)::float8 as pause from notices
      where target_id = ${id}`
    expect([path, row?.pause >= least && row?.pause <= most]).toEqual([path, true])
  }
})

test('a target that is gone gets one attempt: 410 from any, 404 from Slack and Discord', async () => {
  const { add, test: queueTest, log, send } = await openNoticeTeam(stage, timers)
  for (const [type, status, expected] of [
    ['webhook', 410, 'failed'],
    ['slack', 404, 'failed'],
    ['discord', 404, 'failed'],
    ['webhook', 404, 'queued'],
    ['webhook', 302, 'queued'],
  ] as const) {
    const path = `/gone-${type}-${status}`
    stage.upstream.on(path, (_, wire) => void wire.write(answerOf(status, { location: '/other' })))
    const { id } = await add(path, { type })
    await queueTest(id)
    await send(async () => (await log(id))[0]?.last_error !== null)
    expect([path, await log(id)]).toEqual([
      path,
      [
        {
          event: 'notice_target.test',
          status: expected,
          attempts: 1,
          last_error: `http_${status}`,
        },
      ],
    ])
  }
  expect(stage.upstream.received.filter(({ path }) => path === '/other')).toEqual([])
})

test('a target inside the network is rejected when a notice is sent, and the log reports it', async () => {
  const { add, test: queueTest, log, send } = await openNoticeTeam(stage, timers)
  for (const [host, address] of [
    ['metadata.example', '169.254.169.254'],
    ['db.example', '10.0.0.5'],
    ['six.example', '::1'],
  ] as const) {
    stage.names.set(host, [address])
    const { id } = await add('/inside', { host })
    await queueTest(id)
    await send(async () => (await log(id))[0]?.last_error !== null)
    expect([host, await log(id)]).toEqual([
      host,
      [
        {
          event: 'notice_target.test',
          status: 'queued',
          attempts: 1,
          last_error: 'address_blocked',
        },
      ],
    ])
  }
})

test('a certificate for another name is rejected, and a name that does not exist is unreachable', async () => {
  const { add, test: queueTest, log, send } = await openNoticeTeam(stage, timers)
  stage.names.set('other.example', ['127.0.0.1'])
  for (const [host, code] of [
    ['other.example', 'upstream_tls_error'],
    ['nowhere.example', 'upstream_unreachable'],
  ] as const) {
    const { id } = await add('/x', { host })
    await queueTest(id)
    await send(async () => (await log(id))[0]?.last_error !== null)
    expect([host, (await log(id))[0]?.last_error]).toEqual([host, code])
  }
})

test('a long answer counts by its status', async () => {
  const { add, test: queueTest, log, send } = await openNoticeTeam(stage, timers)
  stage.upstream.on('/long', (_, wire) => void wire.write(answerOf(200, {}, 'x'.repeat(500_000))))
  const { id } = await add('/long')
  await queueTest(id)
  await send(async () => (await log(id))[0]?.status === 'delivered')
})

test('a target that does not answer gets one attempt, and its other notices wait', async () => {
  const { workspaceId, add, log, send, received } = await openNoticeTeam(stage, timers)
  stage.upstream.on('/dead', (_, wire) => void wire.write(answerOf(503, {})))
  const { id } = await add('/dead')
  const { id: other } = await add('/alive')
  for (let at = 0; at < 20; at += 1)
    await notices().announce(workspaceId, { event: 'rekey.due', cause: `${at}`, fields: {} })
  await send(async () => (await log(other)).every(({ status }) => status === 'delivered'))
  await send(async () => (await log(id)).some(({ last_error }) => last_error === 'http_503'))
  await timers.advance(60_000)
  expect(received('/dead')).toHaveLength(1)
  expect(received('/alive')).toHaveLength(20)
})

test('a row that was written into the database sends notices nowhere else', async () => {
  const {
    workspaceId,
    add,
    test: queueTest,
    log,
    send,
    received,
  } = await openNoticeTeam(stage, timers)
  const foreign = await openNoticeTeam(stage, timers)
  const own = await add('/own')
  const theirs = await foreign.add('/theirs')
  const swapped = await add('/swapped', { type: 'slack' })
  // Another row's secret, and another type for it.
  await sql()`update notice_targets set secret = (select secret from notice_targets where id = ${theirs.id}) where id = ${own.id}`
  await sql()`update notice_targets set type = 'webhook' where id = ${swapped.id}`
  await queueTest(own.id)
  await queueTest(swapped.id)
  // A notice of this workspace for a target of another.
  await sql()`
    insert into notices (id, workspace_id, target_id, event, cause, body, next_at)
    values (${Bun.randomUUIDv7()}, ${workspaceId}, ${theirs.id}, 'rekey.due', 'x', '{}', now())`
  await send(async () => (await log(swapped.id))[0]?.status === 'failed')
  await send(async () => (await log(own.id))[0]?.status === 'failed')
  expect((await log(own.id))[0]?.last_error).toBe('unreadable_target')
  expect((await log(swapped.id))[0]?.last_error).toBe('unreadable_target')
  for (const path of ['/own', '/theirs', '/swapped']) expect(received(path)).toEqual([])
})

test('a body that was written into the database adds no fields to a notice', async () => {
  const { workspaceId, add, log, send, received } = await openNoticeTeam(stage, timers)
  const { id } = await add('/body')
  const body = {
    id: 'x',
    event: 'y',
    link: 'https://evil.example',
    page: '//evil.example/?x',
    host: 7,
    agent: 'a\nb',
    secrets: 'no',
  }
  await sql()`
    insert into notices (id, workspace_id, target_id, event, cause, body, next_at)
    values (${Bun.randomUUIDv7()}, ${workspaceId}, ${id}, 'rekey.due', 'x', ${JSON.stringify(body)}::text::jsonb, now())`
  await send(async () => (await log(id))[0]?.status === 'delivered')
  const sent = JSON.parse(Buffer.from(received('/body')[0]?.body ?? '').toString())
  expect(Object.keys(sent)).toEqual(['id', 'event', 'workspace', 'created_at', 'agent'])
  expect(sent).toMatchObject({ event: 'rekey.due', agent: 'a?b' })
})
