// tier: quick, both databases in test:all
/** Calls with held secrets are made once a member released their values, and not before (protocol 14). */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { denyApproval, revokeApproval } from '../../src/features/approvals/contract.ts'
import { type Stage, sharedStage } from '../support/agent.ts'
import { HELD, type HeldStage, heldStage } from '../support/approvals.ts'
import { marked } from '../support/canary.ts'
import { until } from '../support/until.ts'
import { answerOf } from '../support/upstream.ts'

const VALUE = marked('held_')

let stage: Stage
let held: HeldStage
beforeAll(async () => {
  stage = await sharedStage()
  stage.upstream.on('/echo', ({ header }, wire) => {
    wire.write(answerOf(200, { 'x-got': header('authorization') ?? '' }, header('authorization')))
  })
})
afterAll(() => stage.stop())
beforeEach(async () => {
  stage.upstream.received.length = 0
  held = await heldStage(stage)
  await held.store('KEY', VALUE, HELD)
})

const bodyOf = (path = '/echo', more: object = {}) => ({
  target_url: stage.url(path),
  headers: { authorization: 'Bearer SVC_SECRET_KEY' },
  ...more,
})
const call = (path?: string, more?: object) => held.resolve(bodyOf(path, more))
const requested = (path?: string, more?: object) => held.request(bodyOf(path, more))
const decideBy = (endpoint: typeof denyApproval | typeof revokeApproval, id: string, body = {}) =>
  held.project.owner.api.call(endpoint, {
    params: { workspace_id: held.project.workspaceId, approval_id: id },
    body,
  })
const window = (path_prefix = '/echo') => ({
  host: stage.authorityOf(),
  methods: ['GET' as const],
  path_prefix,
})

describe('a call with a held secret', () => {
  test('a call with a held secret is rejected until a member releases it, and then sent once', async () => {
    const id = await requested()
    expect(stage.upstream.received).toHaveLength(0)
    await held.release(id)
    const answer = await call()
    expect(answer).toMatchObject({
      status: 200,
      body: { status_code: 200, body: 'Bearer SVC_SECRET_KEY', redacted: true },
    })
    expect(stage.upstream.received.at(-1)?.header('authorization')).toBe(`Bearer ${VALUE}`)
    const again = await requested()
    expect(again).not.toBe(id)
    expect((await held.approval(id)).status).toBe('used')
  })

  test('a call with a held secret waits for its release on request, and is then sent', async () => {
    const waiting = call('/echo', { approval_wait_ms: 60_000 })
    await until(async () => (await held.pending()).length === 1)
    const [request] = await held.pending()
    await held.release(request?.id ?? '')
    expect(await waiting).toMatchObject({ status: 200, body: { status_code: 200 } })
    expect(stage.upstream.received).toHaveLength(1)
  })

  test('a call with a held secret joins an equal request that is pending', async () => {
    const ids = [await requested(), await requested()]
    expect(new Set(ids).size).toBe(1)
    expect(await requested('/echo', { method: 'POST', body: '{}' })).not.toBe(ids[0] ?? '')
    expect(await held.pending()).toHaveLength(2)
  })

  test('a call with a held secret is rejected for an hour after a denial', async () => {
    const id = await requested()
    await decideBy(denyApproval, id)
    expect(await call()).toMatchObject({ status: 403, body: { error_code: 'approval_denied' } })
    expect(await requested('/other')).not.toBe(id)
  })
})

describe('a window', () => {
  test('a window releases calls of its host, methods and path, until it is revoked', async () => {
    const id = await requested()
    await held.release(id, { scope: window() })
    for (const query of ['', '?a=1', '?b=2'])
      expect(await call(`/echo${query}`)).toMatchObject({ status: 200 })
    await requested('/elsewhere')
    await requested('/echo', { method: 'DELETE' })
    await requested('/echo', {
      headers: { authorization: 'Bearer SVC_SECRET_KEY', 'x-http-method-override': 'DELETE' },
    })
    await decideBy(revokeApproval, id)
    await requested()
    expect(stage.upstream.received).toHaveLength(3)
  })
})
