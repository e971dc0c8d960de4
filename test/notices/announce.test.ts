// tier: quick, both databases in test:all
/** Queueing of notices: one row per interested target and cause, bounded per target, and never a failed call. */
import { beforeAll, expect, test } from 'bun:test'
import { openLog } from '../../src/core/log.ts'
import type { NoticeEvent } from '../../src/notices/notice.ts'
import { Notices } from '../../src/notices/notices.ts'
import { sharedApp, type TestApp } from '../support/app.ts'
import { openTeam, type Team } from '../support/teams.ts'

let app: TestApp
let team: Team
let logs: string[]

beforeAll(async () => {
  app = await sharedApp()
  team = await openTeam(app)
})

function openNotices(most = 1_000): Notices {
  logs = []
  return new Notices({
    ...app.connection,
    clock: app.clock,
    config: { QUOTA_NOTICES: most },
    log: openLog('debug', (line) => void logs.push(line)),
  })
}

async function addTarget(events: NoticeEvent[], workspaceId = team.workspaceId): Promise<string> {
  const id = Bun.randomUUIDv7()
  await app.connection.sql`
    insert into notice_targets (id, workspace_id, type, host, events, secret)
    values (${id}, ${workspaceId}, 'webhook', 'hooks.example.com', ${JSON.stringify(events)}::text::jsonb, ${new Uint8Array()})`
  return id
}

const queuedFor = (id: string) => app.connection.sql`
  select event, cause, body, status, attempts from notices where target_id = ${id} order by cause`

const notice = (cause: string) => ({
  event: 'call.refused' as const,
  cause,
  fields: { agent: 'reporter', host: 'api.example.com', code: 'domain_blocked' },
})

test('a notice is queued once for each target with its event, and once per cause', async () => {
  const notices = openNotices()
  const [wanting, other, deleted] = [
    await addTarget(['call.refused', 'rekey.due']),
    await addTarget(['rekey.due']),
    await addTarget(['call.refused']),
  ]
  await app.connection.sql`update notice_targets set deleted_at = now() where id = ${deleted}`
  const elsewhere = await addTarget(['call.refused'], (await openTeam(app)).workspaceId)
  await Promise.all([1, 2, 3].map(() => notices.announce(team.workspaceId, notice('a'))))
  const fields = { agent: 'reporter', host: 'api.example.com', code: 'domain_blocked' }
  const [event, status] = ['call.refused', 'queued']
  expect([...(await queuedFor(wanting))]).toEqual([
    { event, cause: 'a', body: fields, status, attempts: 0 },
  ])
  for (const id of [other, deleted, elsewhere]) expect([...(await queuedFor(id))]).toEqual([])
  expect(logs).toEqual([])
})

test('a notice of a transaction that is rolled back is not queued', async () => {
  const notices = openNotices()
  const id = await addTarget(['call.refused'])
  const failing = app.connection.db.transaction(async (tx) => {
    await notices.announce(team.workspaceId, notice('rolled back'), tx)
    throw new Error('rolled back')
  })
  await expect(failing).rejects.toThrow('rolled back')
  expect([...(await queuedFor(id))]).toEqual([])
})

test('a full queue drops new notices, logs one line a minute, and leaves room for other targets', async () => {
  const { workspaceId } = await openTeam(app)
  const notices = openNotices(4)
  const [full, late] = [
    await addTarget(['call.refused'], workspaceId),
    await addTarget(['rekey.due'], workspaceId),
  ]
  for (const cause of ['1', '2', '3', '4', '1']) await notices.announce(workspaceId, notice(cause))
  await notices.announce(workspaceId, { event: 'rekey.due', cause: '1', fields: {} })
  expect((await queuedFor(full)).map(({ cause }) => cause)).toEqual(['1', '2'])
  expect((await queuedFor(late)).map(({ cause }) => cause)).toEqual(['1'])
  expect(logs.map((line) => JSON.parse(line))).toMatchObject([
    { level: 'warning', workspace_id: workspaceId, count: 1, setting: 'QUOTA_NOTICES' },
  ])
  // Delivered notices make room only after an hour.
  await app.connection.sql`update notices set status = 'delivered' where target_id = ${full}`
  await notices.announce(workspaceId, notice('5'))
  expect(await queuedFor(full)).toHaveLength(2)
  await app.connection.sql`
    update notices set created_at = now() - interval '61 minutes' where target_id = ${full}`
  await notices.announce(workspaceId, notice('5'))
  expect((await queuedFor(full)).map(({ cause }) => cause)).toEqual(['1', '2', '5'])
})

test('a notice that cannot be stored is logged, and its caller does not fail', async () => {
  const notices = openNotices()
  await notices.announce('not an id', notice('x'))
  expect(logs.map((line) => JSON.parse(line))).toMatchObject([
    { level: 'warning', message: 'a notice could not be queued', event: 'call.refused' },
  ])
})

test('fields are stored within their bounds and without invisible characters', async () => {
  const notices = openNotices()
  const id = await addTarget(['proposal.created'])
  await notices.announce(team.workspaceId, {
    event: 'proposal.created',
    cause: 'hostile',
    fields: {
      agent: `a\u202Eb\nc\u0000${'x'.repeat(100_000)}`,
      host: `${'😀'.repeat(500)}`,
      secrets: Array.from({ length: 10_000 }, (_, at) => `NAME_${at}`),
      code: '\uD800',
    },
  })
  const [row] = await queuedFor(id)
  const { agent, host, secrets, code } = (row?.body ?? {}) as Record<string, string>
  expect(agent).toStartWith('a?b?c?xxx')
  expect([...(agent ?? '')]).toHaveLength(200)
  expect([...(host ?? '')]).toHaveLength(200)
  expect(host).toBe(`${'😀'.repeat(199)}…`)
  expect(secrets).toHaveLength(21)
  expect(secrets?.slice(0, 2)).toEqual(['NAME_0', 'NAME_1'] as never)
  expect(secrets?.at(-1)).toBe('and 9980 more')
  expect(code).toBe('\uFFFD')
})
