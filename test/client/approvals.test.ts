// tier: quick
/** A client shows and releases requests for approval that verify, and no others (protocol 14.3). */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { readApprovals } from '../../src/client/actions/approvals.ts'
import { findLongestWindow, releaseRequest } from '../../src/client/approvals/release.ts'
import {
  openHeldValues,
  readVerifiedRequest,
  UnverifiedRequest,
} from '../../src/client/approvals/verify.ts'
import { ApiError, callsWithin } from '../../src/client/http/api.ts'
import { RoleRefusal } from '../../src/client/signed/rights.ts'
import { getApproval, listApprovals } from '../../src/features/approvals/contract.ts'
import { listSecrets } from '../../src/features/secrets/contract.ts'
import { type Stage, sharedStage } from '../support/agent.ts'
import { HELD, type HeldStage, heldStage } from '../support/approvals.ts'
import { marked } from '../support/canary.ts'
import { openEnvironment } from '../support/signed_environment.ts'
import { answerOf } from '../support/upstream.ts'

const VALUE = marked('held_client_')

let stage: Stage
let held: HeldStage
beforeAll(async () => {
  stage = await sharedStage()
  stage.upstream.on('/echo', (_, wire) => void wire.write(answerOf(200, {}, 'sent')))
})
afterAll(() => stage.stop())
beforeEach(async () => {
  held = await heldStage(stage)
  await held.store('KEY', VALUE, HELD)
  await held.store('PLAIN', marked('plain_'), null)
})

const call = (more: object = {}) =>
  held.resolve({
    target_url: stage.url('/echo?order=1'),
    method: 'POST',
    headers: { authorization: 'Bearer SVC_SECRET_KEY', 'x-other': 'SVC_SECRET_PLAIN' },
    body: '{"amount":1}',
    ...more,
  })
async function requested(more?: object): Promise<string> {
  const answer = await call(more)
  expect(answer).toMatchObject({ status: 403, body: { error_code: 'approval_required' } })
  return (answer.body as { approval: { id: string } }).approval.id
}
/** A client that has read nothing yet. */
const place = () => openEnvironment(held.project)
const faultOf = (id: string) =>
  readVerifiedRequest(place(), id).then(
    () => null,
    (error: unknown) => {
      expect(error).toBeInstanceOf(UnverifiedRequest)
      return (error as UnverifiedRequest).why
    },
  )
const sql = () => stage.app.connection.sql

test('a request shows the call that will be sent, and its release lets it pass once', async () => {
  const id = await requested()
  const request = await readVerifiedRequest(place(), id)
  expect(request).toMatchObject({
    body: '{"amount":1}',
    reason: null,
    grant: { token_id: held.token.id },
    call: {
      method: 'POST',
      target_url: stage.url('/echo?order=1'),
      headers: [
        ['authorization', 'Bearer SVC_SECRET_KEY'],
        ['x-other', 'SVC_SECRET_PLAIN'],
      ],
      secrets: [{ key: 'KEY' }, { key: 'PLAIN' }],
    },
  })
  expect(request.held.map(({ key, by }) => [key, by])).toEqual([['KEY', 'member']])
  const [opened] = await openHeldValues(place(), request)
  expect(new TextDecoder().decode(opened?.value.reveal())).toBe(VALUE)
  await releaseRequest(place(), request, null)
  expect(await call()).toMatchObject({ status: 200, body: { body: 'sent' } })
  expect(stage.upstream.received.at(-1)?.header('authorization')).toBe(`Bearer ${VALUE}`)
  expect(await call()).toMatchObject({ status: 403, body: { error_code: 'approval_required' } })
})

test('a window lets other calls pass, as long as the policies permit', async () => {
  const request = await readVerifiedRequest(place(), await requested())
  expect(findLongestWindow(request.held)).toBe(900)
  const scope = { host: stage.authorityOf(), methods: ['POST' as const], path_prefix: '/echo' }
  await releaseRequest(place(), request, { ...scope, seconds: 900 })
  expect(await call({ body: 'another' })).toMatchObject({ status: 200 })
  expect(await call({ method: 'PUT' })).toMatchObject({ status: 403 })
})

describe('a request is hidden', () => {
  test('a request is hidden when the server shows another digest, host list or agent token', async () => {
    const [id, other] = [await requested(), await requested({ body: 'other' })]
    const { digest } = await held.approval(other)
    const unlike = digest.startsWith('x') ? 'y' : 'x'
    await sql()`update approvals set digest = ${unlike + digest.slice(1)} where id = ${id}`
    expect(await faultOf(id)).toBe('its digest belongs to another call')
    const second = await held.issue()
    await sql()`update approvals set token_id = ${second.id} where id = ${other}`
    expect(await faultOf(other)).toBe('its call belongs to another token')
  })

  test('a request is hidden when its details are moved from another request, or deleted', async () => {
    const [id, other] = [await requested(), await requested({ body: 'other' })]
    await sql()`update approvals set details = null where id = ${other}`
    expect(await faultOf(other)).toBe('its details were deleted')
    expect(await faultOf(id)).toBeNull()
  })

  test('a request is hidden when the server hides or adds a secret that needs an approval', async () => {
    const [id, other] = [await requested(), await requested({ body: 'other' })]
    await sql()`update approvals set secrets = jsonb_set(secrets, '{0,held}', 'false') where id = ${id}`
    expect(await faultOf(id)).toBe('the secrets that need approval have changed')
    await sql()`update approvals set secrets = secrets - 1 where id = ${other}`
    expect(await faultOf(other)).toBe('its call uses other secrets')
  })

  test('a request is hidden when a value was replaced since, also between the view and the release', async () => {
    const id = await requested()
    const request = await readVerifiedRequest(place(), id)
    await held.store('KEY', marked('replaced_'), HELD)
    expect(await faultOf(id)).toBe('KEY has a different value or policy since the request')
    const released = releaseRequest(place(), request, null)
    await expect(released).rejects.toThrow('KEY cannot be decrypted with its policy')
    expect((await held.approval(id)).status).toBe('pending')
  })

  test('a request is hidden when the database has a laxer policy than the value was sealed with', async () => {
    const id = await requested()
    const lax = { approval: { by: 'member', ttl_seconds: 86_400 } }
    await sql()`update secrets set policy = ${JSON.stringify(lax)}::text::jsonb
      where key = 'KEY' and project_id = ${held.project.projectId}`
    expect(await faultOf(id)).toBe('KEY has a different value or policy since the request')
  })

  test('a request is hidden when its token was revoked or has no signed grant', async () => {
    const id = await requested()
    await sql()`delete from token_grants where token_id = ${held.token.id}`
    expect(await faultOf(id)).toBe('its token has no signed grant')
  })

  test('a request is hidden when its host is no longer an allowed host', async () => {
    const id = await requested()
    const { project } = held
    const body = { add: [], remove: [stage.authorityOf()] }
    const link = await project.link('allowlist.changed', body)
    const { removeFromAllowlist } = await import('../../src/features/allowlist/contract.ts')
    const params = { workspace_id: project.workspaceId, domain: stage.authorityOf() }
    await project.owner.api.call(removeFromAllowlist, { params, body: { link } })
    expect(await faultOf(id)).toBe('its host is not an allowed host')
  })
})

test('a list has verified requests, and a reason for each of the others', async () => {
  const [good, bad] = [await requested(), await requested({ body: 'bad' })]
  await sql()`update approvals set digest = 'x' where id = ${bad}`
  const listed = await readApprovals(place(), ['pending'])
  expect(listed.map(({ id, request, fault }) => [id, request !== null, fault])).toEqual([
    [bad, false, 'its digest belongs to another call'],
    [good, true, null],
  ])
})

test('a list reads the signed state once, four requests at a time, and waits once if the server is busy', async () => {
  for (let body = 0; body < 9; body += 1) await requested({ body: String(body) })
  const counts = new Map<string, number>()
  const count = (name: string) => counts.set(name, (counts.get(name) ?? 0) + 1)
  let running = 0
  let most = 0
  let isBusy = true
  const there = place()
  const api = callsWithin(there.api, async (call, { path }) => {
    count(path)
    if (isBusy && path === getApproval.path) {
      isBusy = false
      throw new ApiError(429, { error_code: 'rate_limited' }, 7_000)
    }
    running += 1
    most = Math.max(most, running)
    return call().finally(() => {
      running -= 1
    })
  })
  const newestChain = () => {
    count('chain')
    return there.workspace.newestChain()
  }
  const waited: number[] = []
  const sleep = async (ms: number) => void waited.push(ms)
  const patient = { api, workspace: { ...there.workspace, newestChain } }
  const listed = await readApprovals(patient, ['pending'], { sleep })
  expect(listed.map(({ request }) => request !== null)).toEqual(Array(9).fill(true))
  expect(waited).toEqual([7_000])
  expect(most).toBeLessThanOrEqual(4)
  expect(Object.fromEntries(counts)).toEqual({
    chain: 1,
    [listApprovals.path]: 1,
    [getApproval.path]: 10,
    [listSecrets.path]: 1,
  })
})

test('a member cannot release a request that needs an admin, and the error names the people who can', async () => {
  await held.store('ADMINS', VALUE, { approval: { by: 'admin', ttl_seconds: 0 } })
  const id = await requested({ headers: { authorization: 'Bearer SVC_SECRET_ADMINS' } })
  const member = await held.project.join('member')
  const there = openEnvironment(held.project, member)
  const request = await readVerifiedRequest(there, id)
  expect(findLongestWindow(request.held)).toBe(0)
  const refused = releaseRequest(there, request, null)
  await expect(refused).rejects.toBeInstanceOf(RoleRefusal)
  await expect(refused).rejects.toThrow('This needs the role owner or admin')
  expect((await held.approval(id)).status).toBe('pending')
})

test('a body that is not text is released without being shown', async () => {
  const id = await requested({ body: '//79', body_encoding: 'base64' })
  const request = await readVerifiedRequest(place(), id)
  expect(request).toMatchObject({ body: null, call: { body_sha256: expect.any(String) } })
})
