// tier: all
/** Calls as they happen, and what would let a refused one through, in a real browser. */
import { expect } from 'bun:test'
import { registerWithToken } from '../../src/client/actions/issue_token.ts'
import { listSessions, revokeSession } from '../../src/features/accounts/contract.ts'
import { listAuditLogs } from '../../src/features/audit/contract.ts'
import { requires } from '../support/requires.ts'
import { HOST, openEmployer } from './employer.ts'

const { test, beforeAll, afterAll } = requires('chromium')

let employer: Awaited<ReturnType<typeof openEmployer>>
let token = ''

beforeAll(async () => {
  employer = await openEmployer('live')
  token = await employed('deploy-bot')
})
afterAll(async () => {
  await employer.ada.close()
  await employer.stage.close()
})

async function employed(name: string, places = true) {
  const { there, projectId } = employer
  const place = { projectId, environment: 'production' }
  const terms = { environment: 'production', order: {}, places: places ? [place] : [] }
  return (await registerWithToken(there, { name, projectId }, terms)).text
}

const entryOf = (text: string | RegExp) =>
  employer.page.locator('li.entry').filter({ hasText: text })

test('a refused call appears immediately, and one signed link allows what it lacks', async () => {
  const { ada, page, there, button, call } = employer
  await ada.sees('Live requests')
  await page.getByText('Live', { exact: true }).waitFor()
  await page.getByText('Nothing was called yet.').waitFor()
  await ada.judge()
  expect(await call({ token })).toBe('domain_blocked')
  await page.getByText(`${HOST} is not on the allowlist of the workspace.`).waitFor()
  await ada.judge()
  await button(/^Allow this/).click()
  await page.getByText(`${HOST} comes onto the allowlist`).waitFor()
  const { seq } = await there.chains.continued(there.workspace)
  await page.getByText(`You sign it as link ${seq + 1} of the workspace's chain.`).waitFor()
  await ada.judge()
  await button('Sign and allow').click()
  await page.getByText('Allowed: this no longer stops a call.').waitFor()
  const chain = await there.chains.continued(there.workspace)
  expect([...chain.allowlist]).toEqual([HOST])
  expect(chain.seq).toBe(seq + 1)
  expect(await call({ token })).not.toBe('domain_blocked')
})

test('a change that is about to be signed does not move while calls arrive', async () => {
  const { page, button, call } = employer
  await call({ token, host: 'moving.example' })
  const row = entryOf('moving.example')
  await row.getByRole('button', { name: 'Allow this' }).click()
  const sign = row.getByRole('button', { name: 'Sign and allow' })
  await sign.waitFor()
  for (const [width, first] of [
    [1280, 1],
    [390, 4],
  ] as const) {
    await page.setViewportSize({ width, height: 844 })
    const before = await sign.boundingBox()
    await page.mouse.move(0, 0)
    for (const at of [0, 1, 2]) await call({ token, host: `other-${width}-${at}.example` })
    await page.getByText(`${first + 2} new calls`).waitFor()
    expect(await sign.boundingBox()).toEqual(before)
    expect(await entryOf(`other-${width}`).count()).toBe(0)
  }
  await page.setViewportSize({ width: 1280, height: 800 })
  await button('Cancel').click()
  await page.mouse.move(0, 0)
  await entryOf('other-390-2').waitFor()
  expect(await page.getByText(/new calls?$/).count()).toBe(0)
})

test('a row does not move while someone points at its button', async () => {
  const { page, call } = employer
  const allow = entryOf('moving.example').getByRole('button', { name: 'Allow this' })
  await allow.hover()
  const before = await allow.boundingBox()
  await call({ token, host: 'pointed.example' })
  await page.getByText('1 new call', { exact: true }).waitFor()
  expect(await allow.boundingBox()).toEqual(before)
  await page.mouse.move(0, 0)
  await entryOf('pointed.example').waitFor()
})

test('a policy that refused a call gains exactly the one method, and the value stays', async () => {
  const { ada, page, button, call } = employer
  expect(await call({ token, method: 'POST' })).toBe('policy_blocked')
  await page.getByText('The policy of STRIPE_KEY does not permit the method POST.').waitFor()
  await button(/^Allow this: POST/).click()
  await page.getByText('Methods: GET + POST').waitFor()
  await ada.judge()
  await ada.picture('live')
  await button('Sign and allow').click()
  await page.getByText('Allowed: this no longer stops a call.').nth(1).waitFor()
  expect(await call({ token, method: 'POST' })).not.toBe('policy_blocked')
})

test('a token without the key of its environment gets the key, sealed to it and signed', async () => {
  const { ada, call } = employer
  const bare = await employed('bare', false)
  expect(await call({ token: bare })).toBe('key_not_provisioned')
  const row = entryOf('bare')
  await row.getByRole('button', { name: 'Allow this' }).click()
  await row.getByText('The token default of bare gets the key of billing/production.').waitFor()
  await ada.judge()
  await row.getByRole('button', { name: 'Sign and allow' }).click()
  await row.getByText('Allowed: this no longer stops a call.').waitFor()
  expect(await call({ token: bare })).toBe('upstream_unreachable')
})

test('a record that names an environment outside the grant offers no key', async () => {
  const { call, stage, page, there } = employer
  expect(await call({ token: await employed('narrow', false) })).toBe('key_not_provisioned')
  await entryOf('narrow').waitFor()
  const { sql } = stage.app.connection
  await sql`update audit_logs set environment = 'development' where agent_id = 'narrow'
    and workspace_id = ${there.workspace.id}`
  await page.reload()
  await page.getByText('Live', { exact: true }).waitFor()
  await entryOf('narrow').getByRole('button', { name: 'Allow this' }).click()
  await entryOf('narrow').getByText('What a token may do is signed once').waitFor()
})

test('the list pauses while someone reads, and the address keeps its filter', async () => {
  const { page, button, label, call } = employer
  await button('Pause').click()
  await call({ token, host: 'other.example' })
  await page.getByText(/^\d new calls?$/).waitFor()
  expect(await page.getByText('other.example is not on the allowlist').count()).toBe(0)
  await button('Go on').click()
  await page.getByText('other.example is not on the allowlist').waitFor()
  await label('Host, path or secret').fill('other.example')
  await page
    .getByText(/is not on the allowlist/)
    .first()
    .waitFor()
  await entryOf('narrow').waitFor({ state: 'detached' })
  expect(page.url()).toContain('text=other.example')
  await label('Host, path or secret').fill('nowhere')
  await button('Show all calls').click()
  await entryOf('narrow').waitFor()
})

test('a broken connection resumes by itself, and no call is lost or listed twice', async () => {
  const { ada, page, call } = employer
  const paths = Array.from({ length: 10 }, (_, at) => `/break/${at}`)
  for (const path of paths.slice(0, 5)) await call({ token, path })
  const seen = await newest()
  const event = `id: ${seen.id}\ndata: ${JSON.stringify(seen)}\n\n`
  await page.route('**/live/', (route) => route.fulfill({ status: 503, body: '' }))
  await page.route(
    '**/live/',
    (route) => route.fulfill({ contentType: 'text/event-stream', body: event }),
    { times: 1 },
  )
  await page.reload()
  await page.getByText('Not connected. It is tried again by itself').waitFor()
  await ada.judge()
  for (const path of paths.slice(5)) await call({ token, path })
  await page.unroute('**/live/')
  await entryOf('/break/9').waitFor()
  for (const path of paths) expect(await entryOf(path).count()).toBe(1)
})

test('a phone shows a call, allows it, and revokes its token by touch', async () => {
  const { ada, page, button, answer, call } = employer
  await page.setViewportSize({ width: 390, height: 844 })
  await call({ token, host: `${'long-'.repeat(10)}name.example` })
  const row = entryOf('long-')
  await row.getByRole('button', { name: 'Allow this' }).click()
  await row.getByText('You sign it as link').waitFor()
  await ada.judge()
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
  await row.getByRole('button', { name: 'Sign and allow' }).click()
  await row.getByText('Allowed: this no longer stops a call.').waitFor()
  await row.getByRole('button', { name: 'Revoke the token of deploy-bot' }).click()
  await page.getByText('With default, deploy-bot may use secrets in calls').waitFor()
  await page.getByText('This cannot be undone').waitFor()
  await ada.judge()
  await answer('Revoke')
  await page.getByText('the token is revoked.').waitFor()
  expect(await call({ token })).toBe('invalid_token')
  await button('Pause').waitFor()
  await page.setViewportSize({ width: 1280, height: 800 })
})

test('the list keeps the newest 500 calls, each once', async () => {
  const { page } = employer
  const record = await newest()
  const first = BigInt(`0x${record.id.replaceAll('-', '')}`)
  const many = Array.from({ length: 12_000 }, (_, at) => {
    const hex = (first + BigInt(at + 1)).toString(16).padStart(32, '0')
    const id = hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
    return `id: ${id}\ndata: ${JSON.stringify({ ...record, id, target_url: `https://many.example/${at}` })}\n\n`
  })
  await page.route('**/live/', (route) =>
    route.fulfill({ contentType: 'text/event-stream', body: many.join('') }),
  )
  await page.reload()
  await entryOf('/11999').waitFor()
  expect(await page.locator('li.entry').count()).toBe(500)
  expect(await entryOf('many.example/11500').count()).toBe(1)
  await page.unroute('**/live/')
})

async function newest(): Promise<{ id: string }> {
  const { api, workspace } = employer.there
  const records = await api.call(listAuditLogs, { query: { workspace_id: workspace.id } })
  const record = records.find(({ source }) => source === 'resolver')
  if (!record) throw new Error('nothing was called')
  return { ...record, id: records[0]?.id ?? '' }
}

test('a session that ended elsewhere leads to the log-in', async () => {
  const { page, there } = employer
  await page.getByText('Live', { exact: true }).waitFor()
  const sessions = await there.api.list(listSessions, {})
  for (const { id, current } of sessions)
    if (!current) await there.api.call(revokeSession, { params: { session_id: id } })
  await page
    .getByText('Your session ended.')
    .or(page.getByRole('heading', { name: 'Log in' }))
    .first()
    .waitFor()
})
