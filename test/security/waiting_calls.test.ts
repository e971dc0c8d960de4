// tier: quick
/** Requests for approval cost the requesting agent, and nobody else (protocol 14.2). */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { denyApproval } from '../../src/features/approvals/contract.ts'
import { openStage, type Stage } from '../support/agent.ts'
import { HELD, type HeldStage, type HeldToken, heldStage } from '../support/approvals.ts'
import { marked } from '../support/canary.ts'
import { until } from '../support/until.ts'
import { answerOf } from '../support/upstream.ts'

const WAIT_MS = 120_000
/** The number of a workspace's concurrent calls, less than the waiting ones. */
const CONCURRENCY = 2

let stage: Stage
let held: HeldStage
beforeAll(async () => {
  stage = await openStage({
    env: {
      RESOLVER_CONCURRENCY: String(CONCURRENCY),
      RATE_TOKEN: '100000/1',
      RATE_API: '100000/1',
    },
  })
  stage.upstream.on('/echo', (_, wire) => void wire.write(answerOf(200, {}, 'sent')))
})
afterAll(() => stage.stop())
beforeEach(async () => {
  stage.upstream.received.length = 0
  held = await heldStage(stage)
  await held.store('KEY', marked('held_'), HELD)
  await held.store('USUAL', marked('usual_'), null)
})

const bodyOf = (path: string, more: object = {}) => ({
  target_url: stage.url(path),
  headers: { authorization: 'Bearer SVC_SECRET_KEY' },
  ...more,
})
const usual = (token?: HeldToken) =>
  held.resolve({ target_url: stage.url('/echo'), headers: { 'x-key': 'SVC_SECRET_USUAL' } }, token)
const pendingCount = async () => (await held.pending()).length
const decide = (id: string, body = {}) =>
  held.project.owner.api.call(denyApproval, {
    params: { workspace_id: held.project.workspaceId, approval_id: id },
    body,
  })

describe('calls that wait', () => {
  test('waiting calls take no place of running calls, and hold no connection of the database', async () => {
    const calls: Promise<{ status: number }>[] = []
    for (let at = 1; at <= 20; at += 1) {
      calls.push(held.resolve(bodyOf(`/echo?${at}`, { approval_wait_ms: WAIT_MS })))
      await until(async () => (await pendingCount()) === at)
    }
    const answers = await Promise.all(Array.from({ length: CONCURRENCY }, () => usual()))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    // One more of the token is rejected, and another token's calls are not.
    const refused = await held.resolve(bodyOf('/echo?more', { approval_wait_ms: WAIT_MS }))
    expect(refused).toMatchObject({ status: 429, body: { error_code: 'rate_limited' } })
    expect((await usual(await held.issue())).status).toBe(200)
    for (const { id } of await held.pending()) await decide(id)
    for (const { status } of await Promise.all(calls)) expect(status).toBe(403)
  })

  test('waiting calls continue when one release fits, and wait on otherwise', async () => {
    const [first, second] = [1, 2].map((at) =>
      held.resolve(bodyOf(`/echo?${at}`, { approval_wait_ms: WAIT_MS })),
    )
    await until(async () => (await pendingCount()) === 2)
    const pending = await held.pending()
    await held.release(pending[0]?.id ?? '')
    const winner = await Promise.race([first, second])
    expect(winner?.status).toBe(200)
    expect(await pendingCount()).toBe(1)
    await decide(pending[1]?.id ?? '')
    expect((await Promise.all([first, second])).map((answer) => answer?.status).sort()).toEqual([
      200, 403,
    ])
  })

  test('waiting calls end with their caller, and their release is not used', async () => {
    const leaving = new AbortController()
    const call = fetch(`${stage.app.resolver}/v1/resolve`, {
      method: 'POST',
      headers: { authorization: `Bearer ${held.token.text}`, 'content-type': 'application/json' },
      body: JSON.stringify(bodyOf('/echo', { approval_wait_ms: WAIT_MS })),
      signal: leaving.signal,
    })
    await until(async () => (await pendingCount()) === 1)
    const [request] = await held.pending()
    leaving.abort()
    await expect(call).rejects.toThrow()
    await stage.app.flushAudit()
    await until(async () => {
      await stage.app.flushAudit()
      const rows = await stage.app.connection.sql`
        select 1 from audit_logs where workspace_id = ${held.project.workspaceId} and reason = 'approval_required'`
      return rows.length === 1
    })
    await held.release(request?.id ?? '')
    expect((await held.approval(request?.id ?? '')).status).toBe('released')
    expect(stage.upstream.received).toHaveLength(0)
  })
})

describe('requests', () => {
  test('requests of a token with 20 pending ones are rejected, however many it makes', async () => {
    for (let at = 0; at < 20; at += 1) await held.request(bodyOf(`/echo?${at}`))
    for (let at = 20; at < 30; at += 1)
      expect(await held.resolve(bodyOf(`/echo?${at}`))).toMatchObject({ status: 429 })
    expect(await pendingCount()).toBe(20)
    expect((await usual()).status).toBe(200)
  })

  test('requests beyond 60 an hour are rejected, although each is denied', async () => {
    let made = 0
    for (let at = 0; at < 70; at += 1) {
      const { status } = await held.resolve(bodyOf(`/echo?${at}`))
      if (status === 403) made += 1
      if (at % 15 === 14) for (const { id } of await held.pending()) await decide(id)
    }
    expect(made).toBe(60)
  })

  test('requests of a muted token are rejected for these secrets, whatever the call', async () => {
    await held.store('OTHER', marked('other_'), HELD)
    await decide(await held.request(bodyOf('/echo')), { mute_seconds: 7_200 })
    for (const path of ['/echo?1', '/elsewhere'])
      expect(await held.resolve(bodyOf(path))).toMatchObject({
        status: 403,
        body: { error_code: 'approval_denied' },
      })
    await held.request({ ...bodyOf('/echo'), headers: { 'x-key': 'SVC_SECRET_OTHER' } })
    await held.request(bodyOf('/echo'), await held.issue())
  })

  test('requests carry no reason with a token or a value', async () => {
    const value = held.values.USUAL ?? ''
    for (const reason of [`look: ${value}`, btoa(value), held.token.text])
      expect(await held.resolve(bodyOf('/echo', { reason }))).toMatchObject({
        status: 422,
        body: { error_code: 'validation_error' },
      })
    expect(await pendingCount()).toBe(0)
    await held.request(bodyOf('/echo', { reason: 'refund order 41' }))
  })

  test('requests are deleted in time: details a day after the end, rows after 30 days', async () => {
    const id = await held.request(bodyOf('/echo'))
    const { sql } = stage.app.connection
    const age = (days: number) =>
      sql`update approvals set expires_at = now() - ${days} * interval '1 day' where id = ${id}`
    const { sweepApprovals } = await import('../../src/approvals/upkeep.ts')
    await sweepApprovals(stage.app.connection.db)
    expect((await held.approval(id)).details).not.toBeNull()
    await age(2)
    await sweepApprovals(stage.app.connection.db)
    expect((await held.approval(id)).details).toBeNull()
    await age(31)
    await sweepApprovals(stage.app.connection.db)
    expect(await sql`select 1 from approvals where id = ${id}`).toHaveLength(0)
  })
})

test('a workspace keeps the details of 500 ended requests, also of undecided ones', async () => {
  const { sql } = stage.app.connection
  const { workspaceId } = held.project
  await held.request(bodyOf('/echo'))
  await sql`insert into approvals (id, workspace_id, token_id, agent, digest, host, method, secrets, details,
      requested_at, expires_at)
    select gen_random_uuid(), ${workspaceId}, gen_random_uuid(), 'other', number::text, 'h', 'GET', '[]', '\\x01',
      now() - interval '2 hours', now() - interval '1 hour' from generate_series(1, 600) as number`
  await held.request(bodyOf('/echo?2'))
  const [counts] = await sql<{ ended: number; pending: number }[]>`
    select count(*) filter (where status = 'expired')::int as ended,
      count(*) filter (where status = 'pending')::int as pending
    from approvals where workspace_id = ${workspaceId} and details is not null`
  expect(counts).toEqual({ ended: 500, pending: 2 })
})
