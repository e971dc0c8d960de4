// tier: quick
/** Held secrets in forward mode: bodies that arrive in pieces, SDKs that retry, and WebSockets (protocol 14.2). */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { revokeApproval } from '../../src/features/approvals/contract.ts'
import { type Stage, sharedStage } from '../support/agent.ts'
import { HELD, type HeldStage, heldStage } from '../support/approvals.ts'
import { marked } from '../support/canary.ts'
import { type ForwardInit, forwardAs } from '../support/forward.ts'
import { socketThrough } from '../support/socket_caller.ts'
import { type Accepted, accepting } from '../support/socket_upstream.ts'
import { until } from '../support/until.ts'
import { answerOf } from '../support/upstream.ts'

const VALUE = marked('held_')

let stage: Stage
let held: HeldStage
beforeAll(async () => {
  stage = await sharedStage()
  stage.upstream.on('/upload', ({ body }, wire) => {
    wire.write(answerOf(200, {}, `${body.length} bytes`))
  })
})
afterAll(() => stage.stop())
beforeEach(async () => {
  stage.upstream.received.length = 0
  held = await heldStage(stage)
  await held.store('KEY', VALUE, HELD)
})

const forward = (path: string, { headers = {}, ...init }: ForwardInit = {}) =>
  forwardAs(stage, { token: held.token.text }, path, {
    ...init,
    headers: { authorization: 'Bearer SVC_SECRET_KEY', ...headers },
  })
const pendingId = () => until(async () => (await held.pending())[0]?.id)
const inPieces = (...pieces: string[]) =>
  new ReadableStream<Uint8Array>({
    pull: (controller) => {
      const piece = pieces.shift()
      if (piece === undefined) controller.close()
      else controller.enqueue(new TextEncoder().encode(piece))
    },
  })

describe('a call in forward mode', () => {
  test('a call in forward mode waits for its release, and sends the whole approved body', async () => {
    const headers = { 'content-type': 'application/octet-stream' }
    const body = inPieces('x'.repeat(70_000), 'y'.repeat(70_000))
    const call = forward('/upload', { method: 'POST', headers, body })
    const id = await pendingId()
    expect((await held.approval(id)) as object).toMatchObject({
      body_bytes: 140_000,
      method: 'POST',
    })
    await held.release(id)
    const answer = await call
    expect([answer.status, await answer.text()]).toEqual([200, '140000 bytes'])
    expect(stage.upstream.received.at(-1)?.header('authorization')).toBe(`Bearer ${VALUE}`)
  })

  test('a call in forward mode without a wait is rejected immediately, in the format of SDKs', async () => {
    const answer = await forward('/upload', { headers: { 'x-service-approval-wait-ms': '0' } })
    expect(answer.status).toBe(403)
    expect(answer.headers.get('retry-after')).toBe('10')
    expect(await answer.json()).toMatchObject({
      error_code: 'approval_required',
      approval: { id: await pendingId(), expires_at: expect.any(String) },
      error: { type: 'permission_error' },
      message: expect.stringContaining('Do not approve it yourself'),
    })
  })

  test('a call in forward mode makes one request, however often an SDK sends it with other IDs and user agents', async () => {
    for (const at of [1, 2, 3]) {
      const headers = {
        ...{ 'user-agent': `sdk/${at}`, 'x-stainless-retry-count': String(at) },
        ...{ 'idempotency-key': crypto.randomUUID(), 'x-service-approval-wait-ms': '0' },
      }
      expect((await forward('/upload', { headers })).status).toBe(403)
    }
    expect(await held.pending()).toHaveLength(1)
  })

  test('a call in forward mode with a body of more than 1 MiB creates no request', async () => {
    const headers = { 'content-type': 'application/octet-stream' }
    for (const body of ['x'.repeat(1_048_577), inPieces('x'.repeat(1_048_576), 'y')]) {
      const answer = await forward('/upload', { method: 'POST', headers, body })
      expect(answer.status).toBe(413)
    }
    expect(await held.pending()).toHaveLength(0)
    expect(stage.upstream.received).toHaveLength(0)
  })
})

describe('a WebSocket', () => {
  const open = () =>
    socketThrough(stage, { token: held.token.text }, '/socket', {
      headers: { authorization: 'Bearer SVC_SECRET_KEY', 'x-service-approval-wait-ms': '0' },
    })

  test('a WebSocket opens only by a window, and closes when the window is revoked', async () => {
    const accepted = Promise.withResolvers<Accepted>()
    stage.upstream.on('/socket', accepting(accepted.resolve))
    expect(await open().opened).not.toBe('open')
    expect(await open().opened).not.toBe('open')
    expect(await held.pending()).toHaveLength(1)
    const id = await pendingId()
    const scope = { host: stage.authorityOf(), methods: ['GET' as const], path_prefix: '/socket' }
    await held.release(id, { scope })
    const caller = open()
    expect(await caller.opened).toBe('open')
    await accepted.promise
    const params = { workspace_id: held.project.workspaceId, approval_id: id }
    await held.project.owner.api.call(revokeApproval, { params, body: {} })
    expect((await caller.closed).code).not.toBe(1000)
  })

  test('a WebSocket does not open by a release of one call, because its messages were not reviewed', async () => {
    stage.upstream.on(
      '/socket',
      accepting(() => {}),
    )
    expect(await open().opened).not.toBe('open')
    await held.release(await pendingId())
    expect(await open().opened).not.toBe('open')
    expect(stage.upstream.received).toHaveLength(0)
  })
})
