// tier: quick, both databases in test:all
/** A release is valid for what a member signed, and for nothing else (protocol 14.3). */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { renewWorkspaceKey } from '../../src/client/actions/rekey.ts'
import type { Policy } from '../../src/core/policy/policy.ts'
import { revokeApproval } from '../../src/features/approvals/contract.ts'
import { removeMember } from '../../src/features/workspaces/contract.ts'
import { type Stage, sharedStage } from '../support/agent.ts'
import { HELD, type HeldStage, heldStage } from '../support/approvals.ts'
import { marked } from '../support/canary.ts'
import { openEnvironment } from '../support/signed_environment.ts'
import { until } from '../support/until.ts'
import { answerOf } from '../support/upstream.ts'

const VALUE = marked('held_')
const ADMIN: Policy = { approval: { by: 'admin', ttl_seconds: 900 } }

let stage: Stage
let held: HeldStage
beforeAll(async () => {
  stage = await sharedStage()
  stage.upstream.on('/echo', ({ header }, wire) => {
    wire.write(answerOf(200, {}, header('authorization')))
  })
})
afterAll(() => stage.stop())
beforeEach(async () => {
  stage.upstream.received.length = 0
  held = await heldStage(stage)
  await held.store('KEY', VALUE, HELD)
})

const sql = () => stage.app.connection.sql
const bodyOf = (path = '/echo', more: object = {}) => ({
  target_url: stage.url(path),
  headers: { authorization: 'Bearer SVC_SECRET_KEY' },
  ...more,
})
const scope = () => ({
  host: stage.authorityOf(),
  methods: ['GET' as const, 'POST' as const],
  path_prefix: '/echo',
})
/** Makes processes read the workspace again, like a change by a member. */
const raiseVersion = () =>
  sql()`update workspaces set policy_version = policy_version + 1 where id = ${held.project.workspaceId}`

async function expectRefused(body = bodyOf(), token = held.token): Promise<void> {
  const before = stage.upstream.received.length
  expect((await held.resolve(body, token)).status).not.toBe(200)
  expect(stage.upstream.received).toHaveLength(before)
}

async function releasedWindow(options: object = {}): Promise<string> {
  const id = await held.request(bodyOf())
  await held.release(id, { scope: scope(), ...options })
  expect(await held.resolve(bodyOf())).toMatchObject({ status: 200 })
  return id
}

describe('a release of one call', () => {
  test.each([
    ['another path', () => bodyOf('/echo/other')],
    ['another query', () => bodyOf('/echo?all=1')],
    ['another method', () => bodyOf('/echo', { method: 'DELETE' })],
    ['another body', () => bodyOf('/echo', { method: 'POST', body: 'x' })],
    [
      'the value in a header that varies between attempts',
      () => ({
        ...bodyOf(),
        headers: { authorization: 'Bearer SVC_SECRET_KEY', 'x-request-id': 'SVC_SECRET_KEY' },
      }),
    ],
    [
      'another header',
      () => ({ ...bodyOf(), headers: { authorization: 'Bearer SVC_SECRET_KEY', a: 'b' } }),
    ],
  ])('a release does not cover a call with %s', async (_, other) => {
    await held.release(await held.request(bodyOf()))
    await expectRefused(other())
  })

  test('a release does not cover a signed call, whose signature no member could review', async () => {
    await held.store('SIGNING', marked('signing_'), { allowed_locations: ['sign'] })
    const sign = {
      ...{ type: 'hmac-sha256', secret: 'SVC_SECRET_SIGNING', template: '{body}' },
      ...{ header: 'x-signature', value: '{signature}' },
    }
    const answer = await held.resolve({ ...bodyOf(), sign })
    expect(answer).toMatchObject({ status: 403, body: { error_code: 'policy_blocked' } })
    expect(await held.pending()).toHaveLength(0)
  })

  test('a release does not cover another token of the same agent', async () => {
    await held.release(await held.request(bodyOf()))
    await expectRefused(bodyOf(), await held.issue())
  })

  test('a release is used once, even by concurrent calls', async () => {
    await held.release(await held.request(bodyOf()))
    const answers = await Promise.all(Array.from({ length: 8 }, () => held.resolve(bodyOf())))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(stage.upstream.received).toHaveLength(1)
  })

  test('a used release is not usable again because the database claims it', async () => {
    const id = await held.request(bodyOf())
    await held.release(id)
    expect(await held.resolve(bodyOf())).toMatchObject({ status: 200 })
    await sql()`update approvals set status = 'released', used_at = null, used_by = null where id = ${id}`
    await raiseVersion()
    await expectRefused()
  })

  test('a release is not usable again when the database withdraws a known revocation', async () => {
    const id = await releasedWindow()
    const params = { workspace_id: held.project.workspaceId, approval_id: id }
    await held.project.owner.api.call(revokeApproval, { params, body: {} })
    await expectRefused()
    await sql()`update approvals set status = 'released' where id = ${id}`
    await raiseVersion()
    await expectRefused()
  })

  test('a release is used up when the claiming call is rejected afterwards', async () => {
    const id = await held.request(bodyOf())
    await held.release(id)
    await sql()`update approvals set status = 'used', used_by = ${Bun.randomUUIDv7()} where id = ${id}`
    await expectRefused()
  })
})

describe('a window', () => {
  test.each(['/elsewhere', '/echoes', '/echo/../elsewhere'])(
    'a window does not cover the path %s',
    async (path) => {
      await releasedWindow()
      await expectRefused(bodyOf(path))
    },
  )

  test('a window ends when its row is revoked, on every process that reads', async () => {
    const id = await releasedWindow()
    const params = { workspace_id: held.project.workspaceId, approval_id: id }
    await held.project.owner.api.call(revokeApproval, { params, body: {} })
    await expectRefused()
    // Revoking again changes nothing.
    await held.project.owner.api.call(revokeApproval, { params, body: {} })
  })

  test('a window ends with a new value, which its members did not release', async () => {
    await releasedWindow()
    await held.store('KEY', marked('other_'), HELD)
    await expectRefused()
  })

  test('a window ends with a new policy', async () => {
    await releasedWindow()
    await held.store('KEY', VALUE, { ...HELD, allowed_paths: ['/'] })
    await expectRefused()
  })

  test("a window ends with its signer's membership", async () => {
    const signer = await held.project.join('member')
    await releasedWindow({ signer })
    const link = await held.project.link('members.removed', { user_ids: [signer.userId] })
    await held.project.owner.api.call(removeMember, {
      params: { workspace_id: held.project.workspaceId, member: signer.userId },
      body: { link },
    })
    await expectRefused()
  })

  test('a window ends with a rekey', async () => {
    await releasedWindow()
    await renewWorkspaceKey(openEnvironment(held.project), async () => {})
    const answer = await held.resolve(bodyOf())
    expect(answer).toMatchObject({ status: 403, body: { error_code: 'approval_required' } })
  })

  test('a window is not longer than the statement grants, whatever the database holds', async () => {
    const id = await held.request(bodyOf())
    const end = Date.now() + 500
    await held.release(id, { scope: scope(), expiresAt: new Date(end).toISOString() })
    await sql()`update approvals set expires_at = now() + interval '1 day' where id = ${id}`
    await until(() => Date.now() > end)
    await raiseVersion()
    await expectRefused()
  })

  test('a window is not wider than the statement grants, whatever the database holds', async () => {
    const id = await releasedWindow()
    const wide = JSON.stringify({ ...scope(), path_prefix: '/' })
    await sql()`update approvals set scope = ${wide}::text::jsonb where id = ${id}`
    await raiseVersion()
    await expectRefused(bodyOf('/elsewhere'))
  })

  test('a window does not cover another token, whatever the database holds', async () => {
    const id = await releasedWindow()
    const other = await held.issue()
    await sql()`update approvals set token_id = ${other.id} where id = ${id}`
    await raiseVersion()
    await expectRefused(bodyOf(), other)
  })
})

describe('the server rejects a release', () => {
  const refusedFor = async (options: Parameters<HeldStage['release']>[1]) => {
    const id = await held.request(bodyOf())
    await expect(held.release(id, options)).rejects.toMatchObject({ status: 422 })
    await expectRefused()
  }

  test('the server rejects a release for another request', () =>
    refusedFor({ said: { approval_id: Bun.randomUUIDv7() } }))
  test('the server rejects a release with a longer expiry than a release of one call may have', () =>
    refusedFor({ expiresAt: new Date(Date.now() + 3_600_000).toISOString() }))
  test('the server rejects a release if its window is longer than the policy permits', () =>
    refusedFor({ scope: scope(), expiresAt: new Date(Date.now() + 3_600_000).toISOString() }))
  test('the server rejects a release by a member who may only read', async () => {
    const reader = await held.project.join('read_only')
    const id = await held.request(bodyOf())
    await expect(held.release(id, { signer: reader })).rejects.toMatchObject({ status: 403 })
  })
  test('the server rejects a release by a member if the policy requires an admin', async () => {
    await held.store('KEY', VALUE, ADMIN)
    const id = await held.request(bodyOf())
    const member = await held.project.join('member')
    await expect(held.release(id, { signer: member })).rejects.toMatchObject({ status: 403 })
    await held.release(id, { signer: await held.project.join('admin') })
    expect(await held.resolve(bodyOf())).toMatchObject({ status: 200 })
  })
  test('the server rejects a release of a request that is already decided', async () => {
    const id = await held.request(bodyOf())
    await held.release(id)
    await expect(held.release(id)).rejects.toMatchObject({ status: 409 })
  })
})
