// tier: all
/** Calls in real time, and the change that would permit a rejected one, in a real browser. */
import { expect } from 'bun:test'
import { registerWithToken } from '../../src/client/actions/issue_token.ts'
import { readSecrets } from '../../src/client/environment.ts'
import { listSessions, revokeSession } from '../../src/features/accounts/contract.ts'
import { listAuditLogs } from '../../src/features/audit/contract.ts'
import { requires } from '../support/requires.ts'
import { HOST, openEmployer } from './employer.ts'

const { test, beforeAll, afterAll } = requires('chromium')

let employer: Awaited<ReturnType<typeof openEmployer>>
let token = ''

beforeAll(async () => {
  employer = await openEmployer('live')
  token = await createAgentToken('deploy-bot')
})
afterAll(async () => {
  await employer.ada.close()
  await employer.stage.close()
})

async function createAgentToken(name: string, places = true) {
  const { there, projectId } = employer
  const place = { projectId, environment: 'production' }
  const terms = { environment: 'production', order: {}, places: places ? [place] : [] }
  return (await registerWithToken(there, { name, projectId }, terms)).text
}

const rowOf = (text: string | RegExp) => employer.page.getByRole('row').filter({ hasText: text })
const inspector = (name: string | RegExp) => employer.page.getByRole('region', { name })
const said = (text: string | RegExp) => employer.page.getByText(text).first().waitFor()

/** Opens a call in the inspector. */
async function opened(text: string | RegExp, title: string | RegExp) {
  await rowOf(text).first().click()
  const region = inspector(title)
  await region.waitFor()
  return region
}

/** Shows every row that waits, not only the first three. */
async function showAll() {
  await employer.page.getByRole('button', { name: /^Show \d+ more/ }).click()
  await employer.page.mouse.move(0, 0)
}

/** Closes the inspector and moves the pointer off the list, so that the list updates again. */
async function close() {
  await employer.page.keyboard.press('Escape')
  await employer.page.mouse.move(0, 0)
}

test('a refused host is allowed with two clicks, and the inspector shows the next call', async () => {
  const { ada, page, there, button, call, projectId } = employer
  await ada.sees('Live requests')
  await said('No calls yet.')
  await ada.judge()
  expect(await call({ token })).toBe('domain_blocked')
  await page.getByRole('link', { name: 'Live requests 1 waiting for you' }).waitFor()
  await ada.judge()
  const { seq } = await there.chains.readNewerLinks(there.workspace)
  await button(`Review ${HOST}`).click()
  const region = inspector(`Allow ${HOST}?`)
  await region.getByText('deploy-bot tried to call it once').waitFor()
  await region.getByText('Limit STRIPE_KEY to this host').waitFor()
  await region.getByText('Allowed hosts of Acme').waitFor()
  await region.getByText('Details').first().click()
  await region.getByText(`You sign this as link ${seq + 1} of the workspace’s history.`).waitFor()
  await ada.judge()
  await ada.picture('live')
  await button('Sign and allow').click()
  await region.getByText('Allowed. Waiting for the next call…').waitFor()
  await ada.judge()
  const chain = await there.chains.readNewerLinks(there.workspace)
  expect([...chain.allowlist]).toEqual([HOST])
  expect(chain.seq).toBe(seq + 1)
  const place = { ...there, projectId, environment: 'production' }
  const [stored] = await readSecrets(place)
  expect(stored?.policy).toEqual({ allowed_methods: ['GET'], allowed_domains: [HOST] })
  expect(await call({ token })).toBe('upstream_unreachable')
  await region.getByText('Allowed. The next call stopped for another reason.').waitFor()
  await close()
  await button(`Review ${HOST}`).waitFor({ state: 'detached' })
})

test('a change that is about to be signed does not move while calls arrive', async () => {
  const { page, button, call } = employer
  await call({ token, host: 'moving.example' })
  await button('Review moving.example').click()
  await inspector('Allow moving.example?').getByText('With any secret').waitFor()
  const sign = button('Sign and allow')
  for (const [width, count] of [
    [1280, 3],
    [390, 6],
  ] as const) {
    await page.setViewportSize({ width, height: 844 })
    const before = await sign.boundingBox()
    for (const at of [0, 1, 2]) await call({ token, host: `other-${width}-${at}.example` })
    await page.getByText(`${count} new`, { exact: true }).waitFor()
    expect(await sign.boundingBox()).toEqual(before)
    expect(await rowOf(`other-${width}`).count()).toBe(0)
  }
  await page.setViewportSize({ width: 1280, height: 800 })
  await close()
  await rowOf('other-390-2').waitFor()
  expect(await page.getByText(/^\d+ new$/).count()).toBe(0)
})

test('the list stays still under the pointer or after scrolling, and shows new calls on a press', async () => {
  const { page, button, call } = employer
  await showAll()
  const review = button('Review moving.example')
  await review.hover()
  const before = await review.boundingBox()
  await call({ token, host: 'pointed.example' })
  await page.getByText('1 new', { exact: true }).waitFor()
  expect(await review.boundingBox()).toEqual(before)
  await page.mouse.move(0, 0)
  await rowOf('pointed.example').waitFor()
  for (let at = 0; at < 12; at += 1) await call({ token, path: `/many/${at}` })
  await rowOf('/many/11').waitFor()
  await page.getByRole('grid').evaluate((grid) => grid.scrollTo(0, 200))
  await call({ token, path: '/scrolled' })
  await page.getByText('1 new', { exact: true }).click()
  await rowOf('/scrolled').waitFor()
  expect(await page.getByRole('grid').evaluate((grid) => grid.scrollTop)).toBe(0)
})

test('an ignored host is hidden, also after a reload, until it is called again', async () => {
  const { ada, page, button, call } = employer
  await button('Ignore pointed.example').click()
  await page.getByText('Ignored', { exact: true }).waitFor()
  await page.mouse.move(0, 0)
  await button('Review pointed.example').waitFor({ state: 'detached' })
  await said('Hidden until it happens again.')
  await page.reload()
  await showAll()
  await button('Review moving.example').waitFor()
  expect(await button('Review pointed.example').count()).toBe(0)
  await call({ token, host: 'pointed.example' })
  await button('Review pointed.example').waitFor()
  await ada.judge()
})

test('a policy that refused a call gains exactly the one method, and the value stays', async () => {
  const { ada, page, call } = employer
  expect(await call({ token, method: 'POST' })).toBe('policy_blocked')
  const region = await opened(/POST.*Refused|Refused.*POST/, 'Allow POST for STRIPE_KEY?')
  await region.getByText('The policy of STRIPE_KEY doesn’t allow the method POST.').waitFor()
  await region.getByText('Methods of STRIPE_KEY in production').waitFor()
  await ada.judge()
  await page.keyboard.press('Control+Enter')
  await region.getByText('Allowed. Waiting for the next call…').waitFor()
  expect(await call({ token, method: 'POST' })).not.toBe('policy_blocked')
  await close()
})

test('a token without the key of its environment gets the key, sealed to it and signed', async () => {
  const { ada, button, call } = employer
  const bare = await createAgentToken('bare', false)
  expect(await call({ token: bare })).toBe('key_not_provisioned')
  const region = await opened('bare', 'Give bare the key?')
  await region.getByText('Keys of the token default').waitFor()
  await region.getByText('billing / production').waitFor()
  await ada.judge()
  await button('Sign and allow').click()
  await region.getByText('Allowed. Waiting for the next call…').waitFor()
  expect(await call({ token: bare })).toBe('upstream_unreachable')
  await close()
})

test('a record that names an environment outside the grant offers no key', async () => {
  const { call, stage, page, there, button } = employer
  expect(await call({ token: await createAgentToken('narrow', false) })).toBe('key_not_provisioned')
  await rowOf('narrow').waitFor()
  const { sql } = stage.app.connection
  await sql`update audit_logs set environment = 'development' where agent_id = 'narrow'
    and workspace_id = ${there.workspace.id}`
  await page.reload()
  const region = await opened('narrow', /narrow/)
  await region.getByText('A token’s scope can’t change. Create a new token.').waitFor()
  expect(await button('Sign and allow').count()).toBe(0)
  await close()
})

test('the list pauses while someone reads, and the address keeps its filter and what is open', async () => {
  const { ada, page, button, call } = employer
  await page.keyboard.press('p')
  await page.getByText('Paused', { exact: true }).waitFor()
  await call({ token, host: 'other.example' })
  await page.getByText('1 new', { exact: true }).waitFor()
  expect(await rowOf('other.example').count()).toBe(0)
  await button('Resume').click()
  await rowOf('other.example').waitFor()
  await button('Host').click()
  await page
    .getByRole('menuitemradio', { name: 'other.example', exact: true })
    .or(page.getByRole('menuitem', { name: 'other.example', exact: true }))
    .first()
    .click()
  await page.mouse.move(0, 0)
  await rowOf('narrow').waitFor({ state: 'detached' })
  expect(page.url()).toContain('host=other.example')
  await ada.judge()
  await opened('other.example', 'Allow other.example?')
  await page.reload()
  await inspector('Allow other.example?').waitFor()
  await close()
  await button('Failed 0').click()
  await button('Show all calls').click()
  await rowOf('narrow').waitFor()
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
  await page.getByText('Reconnecting', { exact: true }).waitFor()
  await ada.judge()
  for (const path of paths.slice(5)) await call({ token, path })
  await page.unroute('**/live/')
  await rowOf('/break/9').waitFor()
  for (const path of paths) expect(await rowOf(path).count()).toBe(1)
})

test('a phone shows a call, allows it, and revokes its token by touch', async () => {
  const { ada, page, button, answer, call } = employer
  await page.setViewportSize({ width: 390, height: 844 })
  const host = `${'long-'.repeat(10)}name.example`
  await call({ token, host })
  await button(`Review ${host}`).click()
  const region = inspector(`Allow ${host}?`)
  await region.getByText('With any secret').waitFor()
  await ada.judge()
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
  await button('Sign and allow').click()
  await region.getByText('Allowed. Waiting for the next call…').waitFor()
  await region.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Revoke the token of deploy-bot' }).click()
  await page.locator('[data-dialog]').waitFor()
  await ada.judge()
  await answer('Revoke')
  await page.locator('[data-dialog]').waitFor({ state: 'detached' })
  expect(await call({ token })).toBe('invalid_token')
  await close()
  await button('Pause').waitFor()
  await page.setViewportSize({ width: 1280, height: 800 })
})

test('the list keeps the newest 500 calls, each once, and shows 14 of them below the figures', async () => {
  const { ada, page } = employer
  const record = await newest()
  const first = BigInt(`0x${record.id.replaceAll('-', '')}`)
  const path = `/${'x'.repeat(400)}`
  const many = Array.from({ length: 12_000 }, (_, at) => {
    const hex = (first + BigInt(at + 1)).toString(16).padStart(32, '0')
    const id = hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
    const target_url = `https://many.example/${at}${path}`
    return `id: ${id}\ndata: ${JSON.stringify({ ...record, id, target_url, action: null, source: 'resolver' })}\n\n`
  })
  await page.route('**/live/', (route) =>
    route.fulfill({ contentType: 'text/event-stream', body: many.join('') }),
  )
  await page.reload()
  await rowOf('/11999/').waitFor()
  expect(await page.getByRole('grid').getAttribute('aria-rowcount')).toBe('501')
  await showAll()
  for (;;) {
    const ignore = page.getByRole('button', { name: /^Ignore/ })
    if ((await ignore.count()) === 0) break
    await ignore.first().click()
  }
  await page.mouse.move(0, 0)
  for (const [width, height, top, rows] of [
    [1280, 800, 180, 14],
    [390, 844, 220, 8],
  ] as const) {
    await page.setViewportSize({ width, height })
    const seen = await page.locator('[data-row]').evaluateAll((elements) =>
      elements
        .filter((element) => Number(element.getAttribute('data-row')) >= 0)
        .map((element) => element.getBoundingClientRect())
        .map(({ top: y, bottom }) => ({ y, bottom })),
    )
    expect(seen[0]?.y).toBeLessThanOrEqual(top)
    const bottom = await page
      .getByRole('grid')
      .evaluate((grid) => grid.getBoundingClientRect().bottom)
    expect(seen.filter((row) => row.bottom <= bottom).length).toBeGreaterThanOrEqual(rows)
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width)
  }
  await page.setViewportSize({ width: 1280, height: 800 })
  await rowOf('/11999/').click()
  await page
    .getByRole('region', { name: /many\.example/ })
    .getByText(path)
    .waitFor()
  await ada.judge()
  await close()
  await page.unroute('**/live/')
})

async function newest(): Promise<{ id: string }> {
  const { api, workspace } = employer.there
  const records = await api.call(listAuditLogs, { query: { workspace_id: workspace.id } })
  const record = records.find(({ source }) => source === 'resolver')
  if (!record) throw new Error('nothing was called')
  return { ...record, id: records[0]?.id ?? '' }
}

test('a session that ended elsewhere leads to the sign-in screen', async () => {
  const { ada, page, there } = employer
  await ada.sees('Live requests')
  const sessions = await there.api.list(listSessions, {})
  for (const { id, current } of sessions)
    if (!current) await there.api.call(revokeSession, { params: { session_id: id } })
  await page
    .getByText('Your session ended.')
    .or(page.getByRole('heading', { name: 'Sign in' }))
    .first()
    .waitFor()
})
