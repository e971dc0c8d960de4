// tier: all
/** The hosts that agents may reach, in a real browser: who signed each, and what a server says otherwise. */
import { expect } from 'bun:test'
import { allowHosts, disallowHost } from '../../src/client/actions/allowlist.ts'
import { registerWithToken } from '../../src/client/actions/issue_token.ts'
import { addToAllowlist, removeFromAllowlist } from '../../src/features/allowlist/contract.ts'
import { requires } from '../support/requires.ts'
import { HOST, openEmployer } from './employer.ts'

const { test, beforeAll, afterAll } = requires('chromium')

let employer: Awaited<ReturnType<typeof openEmployer>>

beforeAll(async () => {
  employer = await openEmployer('allowlist')
})
afterAll(async () => {
  await employer.ada.close()
  await employer.stage.close()
})

async function allowElsewhere(change: { add?: string[]; remove?: string[] }) {
  const { there } = employer
  await there.chains.continued(there.workspace)
  if (change.add) await allowHosts(there, change.add)
  for (const domain of change.remove ?? []) await disallowHost(there, domain)
}

const rowOf = (domain: string) => employer.page.locator('li.entry').filter({ hasText: domain })
const listed = async () => [
  ...(await employer.there.chains.continued(employer.there.workspace)).allowlist,
]

test('links allow and remove a host, and the screen first lists what used it', async () => {
  const { ada, page, there, projectId, label, button, answer, call } = employer
  await ada.sees('Allowlist')
  await page.getByText('No host is allowed yet').waitFor()
  await ada.judge()
  await allowElsewhere({ add: [HOST] })
  const places = [{ projectId, environment: 'production' }]
  const terms = { environment: 'production', order: {}, places }
  const { text } = await registerWithToken(there, { name: 'deploy-bot', projectId }, terms)
  await call({ token: text })
  await label('Host').fill('*.example.com')
  await button('Allow').click()
  await page.getByText('*.example.com is allowed.').waitFor()
  await rowOf(HOST).getByText(`allowed by ${employer.email}`).waitFor()
  await rowOf('*.example.com').getByText('link 3').waitFor()
  await ada.judge()
  await rowOf(HOST).getByRole('button', { name: 'Remove' }).click()
  await page
    .getByText('1 call went there in the last 7 days: by deploy-bot with STRIPE_KEY')
    .waitFor()
  await ada.judge()
  await answer('Remove')
  await page.getByText(`${HOST} is not allowed any more.`).waitFor()
  expect(await listed()).toEqual(['*.example.com'])
  expect(await call({ token: text })).toBe('domain_blocked')
})

test('a change made after a concurrent one is signed on top of it', async () => {
  const { ada, page, label, button, answer } = employer
  await allowElsewhere({ add: ['second.example.com'] })
  await label('Host').fill('third.example.com')
  await button('Allow').click()
  await page.getByText('third.example.com is allowed.').waitFor()
  await page.getByText('second.example.com', { exact: true }).waitFor()
  await ada.picture('allowlist')
  await allowElsewhere({ remove: ['third.example.com'] })
  await rowOf('third.example.com').getByRole('button', { name: 'Remove' }).click()
  await answer('Remove')
  await rowOf('third.example.com').waitFor({ state: 'detached' })
})

test('a host that only the server lists is marked and not allowed, and a hidden host is listed', async () => {
  const { ada, page, there, stage, area } = employer
  const { sql } = stage.app.connection
  const { id } = there.workspace
  await sql`update allowlist_entries set domain = 'evil.example'
    where workspace_id = ${id} and domain = 'second.example.com'`
  await area('Live requests')
  await page.reload()
  await area('Allowlist')
  const unsigned = page.getByRole('note').filter({ hasText: 'nobody signed them' })
  await unsigned.getByText('evil.example').waitFor()
  const leftOut = page.getByRole('note').filter({ hasText: 'leaves these out' })
  await leftOut.getByText('second.example.com').waitFor()
  expect(await rowOf('evil.example').count()).toBe(0)
  expect(await rowOf('second.example.com').count()).toBe(1)
  await ada.judge()
  await sql`update allowlist_entries set domain = 'second.example.com'
    where workspace_id = ${id} and domain = 'evil.example'`
})

test('a change that an unavailable server refuses shows the error and leaves the list unchanged', async () => {
  const { page, label, button, answer } = employer
  await page.route('**/allowlist/**', (route) =>
    ['POST', 'DELETE'].includes(route.request().method())
      ? route.fulfill({ status: 503, body: '' })
      : route.continue(),
  )
  await label('Host').fill('away.example.com')
  await button('Allow').click()
  await page.getByRole('alert').waitFor()
  await page.locator('code', { hasText: 'away.example.com' }).waitFor({ state: 'detached' })
  await rowOf('second.example.com').getByRole('button', { name: 'Remove' }).click()
  await answer('Remove')
  await page.getByRole('alertdialog').getByRole('alert').waitFor()
  await answer('Cancel')
  await rowOf('second.example.com').waitFor()
  await page.unroute('**/allowlist/**')
})
