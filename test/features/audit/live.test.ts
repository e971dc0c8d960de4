// tier: quick, both databases in test:all
import { beforeAll, describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { Fault } from '../../../src/core/fault.ts'
import { auditLogs } from '../../../src/database/schema/index.ts'
import { recordAuditLogs } from '../../../src/features/audit/contract.ts'
import { Watcher } from '../../../src/features/audit/live_watcher.ts'
import { renameWorkspace } from '../../../src/features/workspaces/contract.ts'
import { adviceFor } from '../../../src/http/advice.ts'
import { sharedApp, startTestApp, type TestApp } from '../../support/app.ts'
import { ofConsole } from '../../support/console.ts'
import { EventReader, type ServerEvent } from '../../support/events.ts'
import { logInAs, type Person } from '../../support/people.ts'
import { openTeam, type Team } from '../../support/teams.ts'

let app: TestApp
let team: Team
let reader: Person
beforeAll(async () => {
  app = await sharedApp()
  team = await openTeam(app)
  reader = await team.join('read_only')
})

type Stored = Partial<typeof auditLogs.$inferInsert>

/** Written the way another process does. */
async function write(fields: Stored = {}): Promise<string> {
  const { id = Bun.randomUUIDv7() } = fields
  await app.connection.db.insert(auditLogs).values({
    workspaceId: team.workspaceId,
    timestamp: new Date(),
    source: 'resolver',
    identityLevel: 'agent',
    agentId: 'bot',
    targetDomain: 'api.example.com',
    decision: 'allowed',
    statusCode: 200,
    ...fields,
    id,
  })
  return id
}

async function look(headers: Record<string, string> = {}, workspaceId = team.workspaceId) {
  const response = await fetch(`${app.controlPlane}/api/workspaces/${workspaceId}/live/`, {
    headers: { authorization: `Bearer ${reader.token}`, ...headers },
  })
  return new EventReader(response)
}

const isRecord = (id: string) => (event: ServerEvent) => event.id === id
const endOf = (events: EventReader) => events.find(({ event }) => event === 'end')

describe('a live subscriber', () => {
  test('a subscriber receives what any process writes, in the form of the list', async () => {
    const events = await look()
    const { headers, status } = events.response
    expect([status, headers.get('content-type'), headers.get('x-accel-buffering')]).toEqual([
      200,
      'text/event-stream',
      'no',
    ])
    const id = await write({ decision: 'blocked', reason: 'domain_blocked', statusCode: 403 })
    const shown = await events.find(isRecord(id))
    const path = `/api/audit/logs/${id}/?workspace_id=${team.workspaceId}`
    const { body } = await app.call('GET', path, { token: reader.token })
    expect(body).toEqual({ status: 'success', data: shown.data })
    expect(shown).toMatchObject({ event: 'message', data: { reason: 'domain_blocked' } })
    await events.close()
  })

  test("a subscriber receives people's changes and clients' reports, whatever their time", async () => {
    const events = await look()
    const params = { workspace_id: team.workspaceId }
    await team.owner.api.call(renameWorkspace, { params, body: { name: 'Renamed' } })
    await events.find(({ data }) => (data as { action?: string }).action === 'workspace.renamed')
    const answer = await app.call('POST', recordAuditLogs.path, {
      token: team.owner.token,
      headers: { 'x-workspace-id': team.workspaceId },
      body: {
        timestamp: '2026-01-01T00:00:00Z',
        method: 'GET',
        target_url: 'https://api.example.com/v1',
      },
    })
    expect(answer).toMatchObject({ status: 201 })
    const { ids } = (answer.body as { data: { ids: string[] } }).data
    await events.find(isRecord(ids[0] ?? ''))
    await events.close()
  })

  test('a subscriber receives a long call twice: when it was permitted, and with its outcome', async () => {
    const events = await look()
    const id = await write({ statusCode: null })
    expect(await events.find(isRecord(id))).toMatchObject({ data: { status_code: null } })
    const change = { statusCode: 201, durationMs: 70_000 }
    await app.connection.db.update(auditLogs).set(change).where(eq(auditLogs.id, id))
    expect(await events.find(isRecord(id))).toMatchObject({ data: { status_code: 201 } })
    await events.close()
  })

  test('a subscriber receives nothing of other workspaces, and strangers receive nothing at all', async () => {
    const other = await openTeam(app)
    const events = await look()
    await write({ workspaceId: other.workspaceId })
    const id = await write()
    for (;;) {
      const event = await events.next()
      expect(event?.data).toMatchObject({ workspace_id: team.workspaceId })
      if (event?.id === id) break
    }
    expect((await look({}, other.workspaceId)).response.status).toBe(404)
    expect((await look({ authorization: '' })).response.status).toBe(401)
    await events.close()
  })

  test('a subscriber can use the cookies of the console too', async () => {
    const events = await look({ authorization: '' })
    expect(events.response.status).toBe(401)
    const { token } = await logInAs(app, reader)
    const response = await fetch(`${app.controlPlane}/api/workspaces/${team.workspaceId}/live/`, {
      headers: ofConsole({ access: token }),
    })
    expect(response.status).toBe(200)
    await new EventReader(response).close()
  })
})

describe('a subscriber that was disconnected', () => {
  test('a subscriber that was disconnected gets the records written since, also late ones', async () => {
    const first = await look()
    const last = await write()
    await first.find(isRecord(last))
    await first.close()
    const lateId = Bun.randomUUIDv7('hex', Date.now() - 5_000)
    const missed = [await write(), await write({ id: lateId }), await write()]
    const again = await look({ 'last-event-id': last })
    const waitedFor = new Set(missed)
    while (waitedFor.size > 0) {
      const { id } = await again.find((event) => waitedFor.has(event.id ?? ''))
      waitedFor.delete(id ?? '')
    }
    await again.close()
  })

  test.each([
    ['for long', Bun.randomUUIDv7('hex', Date.now() - 7_200_000)],
    ['with an invalid id', 'latest'],
  ])('a subscriber that was disconnected %s gets notice of a gap', async (_, lastEventId) => {
    const events = await look({ 'last-event-id': lastEventId })
    expect(await events.next()).toEqual({ id: null, event: 'gap', data: {} })
    await events.close()
  })
})

describe('the end of a live feed', () => {
  test('a live feed ends with the session', async () => {
    const { token } = await logInAs(app, reader)
    const [ending, other] = [await look({ authorization: `Bearer ${token}` }), await look()]
    await ending.find(isRecord(await write()))
    await app.call('POST', '/api/auth/logout/', { token })
    const unseen = await write()
    const seen: unknown[] = []
    const end = await ending.find(({ event, id }) => seen.push(id) > 0 && event === 'end')
    expect(end).toMatchObject({ data: { error_code: 'invalid_token' } })
    expect(await ending.next()).toBeNull()
    expect(seen).not.toContain(unseen)
    await other.find(isRecord(unseen))
    await other.close()
  })

  test('a live feed ends with the membership', async () => {
    const leaving = await team.join('member')
    const events = await look({ authorization: `Bearer ${leaving.token}` })
    await events.find(isRecord(await write()))
    const path = `/api/workspaces/${team.workspaceId}/members/${leaving.userId}/`
    await app.call('DELETE', path, { token: team.owner.token })
    const unseen = await write()
    const seen: unknown[] = []
    const end = await events.find(({ event, id }) => seen.push(id) > 0 && event === 'end')
    expect(end).toMatchObject({ data: { error_code: 'not_found' } })
    expect(seen).not.toContain(unseen)
  })

  test('a live feed ends with the server, which does not wait for it', async () => {
    const stopping = await startTestApp()
    const { owner, workspaceId } = await openTeam(stopping)
    const response = await fetch(`${stopping.controlPlane}/api/workspaces/${workspaceId}/live/`, {
      headers: { authorization: `Bearer ${owner.token}` },
    })
    const events = new EventReader(response)
    const stopped = stopping.stop()
    expect(await endOf(events)).toMatchObject({ data: { error_code: 'unavailable' } })
    await stopped
  })
})

describe('the bounded cost of a live feed', () => {
  test('a person has six streams, and a seventh when one of them is closed', async () => {
    const person = await team.join('member')
    const mine = { authorization: `Bearer ${person.token}` }
    const open = await Promise.all(Array.from({ length: 6 }, () => look(mine)))
    const id = await write()
    for (const events of open) await events.find(isRecord(id))
    const refused = await fetch(`${app.controlPlane}/api/workspaces/${team.workspaceId}/live/`, {
      headers: mine,
    })
    expect(refused.status).toBe(429)
    const others = await look()
    expect(others.response.status).toBe(200)
    await Promise.all([others, ...open.slice(1)].map((events) => events.close()))
    let again = await look(mine)
    while (again.response.status === 429) again = await look(mine)
    expect(again.response.status).toBe(200)
    await again.close()
    await open[0]?.close()
  })

  test('one workspace has at most 25 live views, however many members open them, and others still get theirs', async () => {
    const crowd = await openTeam(app)
    const members = await Promise.all(Array.from({ length: 5 }, () => crowd.join('read_only')))
    const openAs = (token: string) => look({ authorization: `Bearer ${token}` }, crowd.workspaceId)
    // All concurrently: a check before the streams begin would admit all of them.
    const requested = members.flatMap(({ token }) => Array.from({ length: 6 }, () => token))
    const views = await Promise.all(requested.map(openAs))
    const answered = views.filter(({ response }) => response.status === 200)
    await write({ workspaceId: crowd.workspaceId })
    const firsts = await Promise.all(answered.map((events) => events.next()))
    const open = answered.filter((_, index) => firsts[index]?.event === 'message')
    expect(open).toHaveLength(25)
    for (const first of firsts.filter((event) => event?.event === 'end'))
      expect(first?.data).toEqual({ error_code: 'rate_limited' })

    const url = `${app.controlPlane}/api/workspaces/${crowd.workspaceId}/live/`
    const headers = { authorization: `Bearer ${crowd.owner.token}` }
    const refused = await fetch(url, { headers })
    expect({ status: refused.status, body: await refused.json() }).toEqual({
      status: 429,
      body: {
        status: 'failure',
        error_code: 'rate_limited',
        message:
          'This workspace has 25 live views open, the limit. Close one and retry, or run cloakroom audit list.',
        ...adviceFor('rate_limited', { command: ['cloakroom', 'audit', 'list'] }),
        request_id: expect.any(String),
      },
    })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    const others = await look()
    expect(others.response.status).toBe(200)
    await Promise.all([others, ...open].map((events) => events.close()))
  })

  test('the queue for a subscriber that does not read is limited to one megabyte', async () => {
    const confirm = () => Promise.reject(new Fault('not_found'))
    const slow = new Watcher(reader.userId, confirm)
    const [record] = await app.connection.db.select().from(auditLogs).limit(1)
    const large = { ...record, targetUrl: 'x'.repeat(600_000) } as never
    slow.show([large])
    slow.show([large])
    slow.show([large])
    const texts = await Array.fromAsync(slow.texts())
    expect(texts).toEqual(['event: end\ndata: {"error_code":"unavailable"}\n\n'])
  })

  test('an idle stream sends heartbeats, so proxies keep it open', async () => {
    const idle = new Watcher(reader.userId, () => Promise.reject(new Fault('not_found')), 1)
    const texts = idle.texts()
    expect((await texts.next()).value).toBe(': still here\n\n')
    expect((await texts.next()).value).toBe(': still here\n\n')
    expect(await idle.authorizeAgain()).toBeNull()
    expect((await texts.next()).value).toContain('not_found')
  })

  test('a HEAD opens no stream', async () => {
    const person = await team.join('member')
    const url = `${app.controlPlane}/api/workspaces/${team.workspaceId}/live/`
    const headers = { authorization: `Bearer ${person.token}` }
    for (let n = 0; n < 8; n += 1)
      expect((await fetch(url, { method: 'HEAD', headers })).status).toBe(200)
  })
})
