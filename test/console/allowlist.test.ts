// tier: all
/** Allowed hosts in a real browser: their signers, and a server that shows something else. */
import { expect } from 'bun:test'
import { allowHosts, disallowHost } from '../../src/client/actions/allowlist.ts'
import { registerWithToken } from '../../src/client/actions/issue_token.ts'
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
  await there.chains.readNewerLinks(there.workspace)
  if (change.add) await allowHosts(there, change.add)
  for (const domain of change.remove ?? []) await disallowHost(there, domain)
}

const rowOf = (domain: string) =>
  employer.page.getByRole('row').filter({
    has: employer.page.getByRole('rowheader', { name: domain, exact: true }),
  })

async function add(text: string) {
  const { page, button } = employer
  await button('Add host').first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Host', { exact: true }).fill(text)
  await dialog.getByRole('button', { name: 'Add host' }).click()
}

async function remove(domain: string) {
  const { page } = employer
  await page.getByRole('button', { name: `Actions for ${domain}` }).click()
  await page.getByRole('menuitem', { name: 'Remove host' }).click()
}

const listed = async () => [
  ...(await employer.there.chains.readNewerLinks(employer.there.workspace)).allowlist,
]

test('signed changes allow and remove a host, and the screen first lists its agents and secrets', async () => {
  const { ada, page, there, projectId, answer, call } = employer
  await ada.sees('Allowed hosts')
  await page.getByText('No allowed hosts yet').waitFor()
  await ada.judge()
  await allowElsewhere({ add: [HOST] })
  const places = [{ projectId, environment: 'production' }]
  const terms = { environment: 'production', order: {}, places }
  const { text } = await registerWithToken(there, { name: 'deploy-bot', projectId }, terms)
  await call({ token: text })
  await add('*.example.com')
  await page.getByText('Added *.example.com.').waitFor()
  await rowOf(HOST).getByText(employer.email).waitFor()
  await rowOf('*.example.com').getByTitle('Signed change 3').waitFor()
  await ada.judge()
  await remove(HOST)
  const question = page.getByRole('alertdialog', { name: `Remove ${HOST}?` })
  await question.getByText('1 call in the last 7 days would be refused.').waitFor()
  await question.getByText('deploy-bot (1)').waitFor()
  await question.getByText('STRIPE_KEY (1)').waitFor()
  await ada.judge()
  await answer('Remove host')
  await page.getByText(`Removed ${HOST}.`).waitFor()
  expect(await listed()).toEqual(['*.example.com'])
  expect(await call({ token: text })).toBe('domain_blocked')
})

test('a change made after a concurrent one is signed on top of it', async () => {
  const { ada, page, answer, area } = employer
  await allowElsewhere({ add: ['second.example.com'] })
  await add('https://third.example.com/v1/charges?limit=3')
  await page.getByText('Added third.example.com.').waitFor()
  await rowOf('second.example.com').waitFor()
  await ada.picture('allowlist')
  await area('Signed history')
  await ada.sees('Signed history')
  await ada.picture('history')
  await area('Allowed hosts')
  await allowElsewhere({ remove: ['third.example.com'] })
  await remove('third.example.com')
  await answer('Remove host')
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
  await area('Allowed hosts')
  const unsigned = page.getByRole('note').filter({ hasText: 'nobody signed them' })
  await unsigned.getByText('evil.example').waitFor()
  const leftOut = page.getByRole('note').filter({ hasText: 'hides these hosts' })
  await leftOut.getByText('second.example.com').waitFor()
  expect(await rowOf('evil.example').count()).toBe(0)
  expect(await rowOf('second.example.com').count()).toBe(1)
  await ada.judge()
  await sql`update allowlist_entries set domain = 'second.example.com'
    where workspace_id = ${id} and domain = 'evil.example'`
})

test('a removed host can be restored from the notice', async () => {
  const { page, answer } = employer
  await remove('second.example.com')
  await answer('Remove host')
  await rowOf('second.example.com').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: /^Undo/ }).first().click()
  await rowOf('second.example.com').waitFor()
  expect(await listed()).toContain('second.example.com')
})

test('a change that an unavailable server refuses shows the error and leaves the list unchanged', async () => {
  const { page, answer } = employer
  await page.route('**/allowlist/**', (route) =>
    ['POST', 'DELETE'].includes(route.request().method())
      ? route.fulfill({ status: 503, body: '' })
      : route.continue(),
  )
  await add('failing.example.com')
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('alert').waitFor()
  expect(await dialog.getByLabel('Host', { exact: true }).inputValue()).toBe('failing.example.com')
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  expect(await rowOf('failing.example.com').count()).toBe(0)
  await remove('second.example.com')
  await answer('Remove host')
  await page.getByRole('alertdialog').getByRole('alert').waitFor()
  await answer('Cancel')
  await rowOf('second.example.com').waitFor()
  await page.unroute('**/allowlist/**')
})

test('a change without an answer is not reported as failed, and appears once the server answers', async () => {
  const { page } = employer
  await page.route('**/allowlist/', async (route) => {
    if (route.request().method() !== 'POST') return route.continue()
    await route.fetch()
    await route.abort()
  })
  await add('lost.example.com')
  const dialog = page.getByRole('dialog')
  await dialog.getByText('The server didn’t answer, so your change may have been saved.').waitFor()
  await page.unroute('**/allowlist/')
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await rowOf('lost.example.com').waitFor()
})

test.each([
  { typed: 'not a host', said: 'Enter a host like api.example.com.' },
  { typed: '', said: 'Host: this field is required.' },
])('the field for a host rejects "$typed" and keeps it', async ({ typed, said }) => {
  const { page } = employer
  await add(typed)
  await page.getByRole('dialog').getByText(said).waitFor()
  expect(await page.getByRole('dialog').getByLabel('Host').inputValue()).toBe(typed)
  await page.keyboard.press('Escape')
})
