// tier: all
/** Agents and their tokens in a real browser: made, given keys, and revoked. */
import { expect } from 'bun:test'
import { giveKeys } from '../../src/client/actions/grant.ts'
import { registerWithToken } from '../../src/client/actions/issue_token.ts'
import type { Api } from '../../src/client/http/api.ts'
import { listAgentTokens } from '../../src/features/agents/contract.ts'
import { createEnvironment } from '../../src/features/projects/contract.ts'
import { requires } from '../support/requires.ts'
import { openEmployer } from './employer.ts'

const { test, beforeAll, afterAll } = requires('chromium')

const RESOLVER = 'https://resolver.example.com'

let employer: Awaited<ReturnType<typeof openEmployer>>
let token = ''

beforeAll(async () => {
  employer = await openEmployer('agents', { SERVICE_RESOLVER_URL: RESOLVER })
})
afterAll(async () => {
  await employer.ada.close()
  await employer.stage.close()
})

const agent = (name: string) => employer.page.getByRole('region', { name, exact: true })

test('the screen creates an agent token, reveals it on request, and keeps it out of every snippet', async () => {
  const { ada, page, button, label, choose } = employer
  await ada.sees('Agents and tokens')
  await page.getByText('No agent has a token yet').waitFor()
  await button('New token').click()
  await label('Name').fill('deploy-bot')
  await choose('Environment', 'production')
  await page
    .getByText('deploy-bot may use secrets in calls, and never sees one, in billing/production.')
    .waitFor()
  await ada.judge()
  await button('Make the token').click()
  await page.getByRole('heading', { name: 'The token', exact: true }).waitFor()
  await page.getByRole('tab', { name: 'Claude Code' }).waitFor()
  await ada.judge()
  expect(await page.content()).not.toContain('svc_agt_')
  await page.getByText(`export SERVICE_RESOLVER_URL=${RESOLVER}`).waitFor()
  await page
    .getByText('token issue deploy-bot -p billing -e production --label claude-code --save')
    .waitFor()
  await button('Show the token').click()
  token = await page.locator('[data-secret-value]').innerText()
  expect(token).toStartWith('svc_agt_')
  for (const tab of ['Claude Code', 'Cursor', 'curl', 'SDKs', 'GitHub Actions', 'GitLab CI']) {
    await page.getByRole('tab', { name: tab, exact: true }).click()
    await page.getByRole('tabpanel').locator('pre').first().waitFor()
    expect(await page.locator('pre').allInnerTexts()).not.toContain(token)
  }
  await button('Hide the token').click()
  await button('I have it').click()
  await page
    .getByText('may use secrets in calls, and never sees one, in billing/production')
    .waitFor()
  await page.getByText(`signed by ${employer.email}`).waitFor()
  await ada.judge()
  expect(await page.content()).not.toContain(token)
})

test('the screen explains what a CI token may read, and its snippet passes it to one command', async () => {
  const { ada, page, button, label, choose, area, answer, command } = employer
  await area('Allowlist')
  await command('New token')
  await choose('For whom', 'A container or CI job')
  await label('Name').fill('nightly')
  await choose('Environment', 'production')
  await page.getByText('Who reads a secret can take it along').waitFor()
  await button('Make the token').press('Enter')
  await page.getByText('cloakroom run -- ./deploy.sh').waitFor()
  await page.getByRole('tab', { name: 'GitHub Actions' }).click()
  await page.getByText('::add-mask::').waitFor()
  await ada.judge()
  await button('I have it').press('Enter')
  await agent('Tokens of billing').getByText('may use secrets in calls, and read them').waitFor()
  await command('Revoke nightly of billing')
  await page.getByText('With nightly, billing may use secrets in calls').waitFor()
  await answer('Revoke')
  await agent('Tokens of billing').getByText('1 that ended').waitFor()
  await page.setViewportSize({ width: 1280, height: 800 })
  await ada.picture('agents')
})

test('a token that lacks keys shows the reason, and gets only the keys in its scope', async () => {
  const { ada, page, there, projectId, button } = employer
  const { api, workspace } = there
  const terms = { environment: null, order: {}, places: [] }
  const made = await registerWithToken(there, { name: 'x'.repeat(100), projectId }, terms)
  const body = { name: 'canary' }
  await api.call(createEnvironment, { params: { project_id: projectId }, body })
  await reread()
  const row = agent('x'.repeat(100))
  await row.getByText('It has the key of no environment').waitFor()
  await button('Missing keys of default').click()
  await row.getByText('billing/canary: made after the token').waitFor()
  await ada.judge()
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(1280)
  await row.getByRole('button', { name: /^Give it \d keys$/ }).click()
  await row.getByText(/Has keys of: .*billing\/canary/).waitFor()
  await button('Missing keys of default').click()
  await row.getByText('It has the key of every environment').waitFor()
  await ada.judge()

  const params = { workspace_id: workspace.id, registration_id: made.agent.id }
  const [listed] = await api.list(listAgentTokens, { params })
  if (!listed) throw new Error('there is no token')
  const asked = { call: () => Promise.reject(new Error('the server was asked')) } as unknown as Api
  const other = { projectId: Bun.randomUUIDv7(), environment: 'production' }
  const giving = giveKeys({ api: asked, workspace }, { agentId: made.agent.id }, listed, [other])
  await expect(giving).rejects.toThrow('outside the scope')
})

test('the screen shows the signed permissions of a token, even if the server claims others', async () => {
  const { ada, page, stage } = employer
  const { sql } = stage.app.connection
  await sql`update tokens set label = 'reads nothing', environment = 'development'
    where environment = 'production' and label = 'default'`
  await reread()
  const row = agent('deploy-bot').locator('li.entry')
  await row.getByText('The server says otherwise of it').waitFor()
  await row.getByText('default', { exact: true }).waitFor()
  await row.getByText('never sees one, in billing/production').waitFor()
  expect(await page.getByText('reads nothing').count()).toBe(0)
  await ada.judge()
  await sql`update tokens set label = 'default', environment = 'production'
    where label = 'reads nothing'`
  await reread()
  await row.getByText('The server says otherwise of it').waitFor({ state: 'detached' })
})

test('an agent gets a second token and loses the first one on a phone, by keyboard and by touch', async () => {
  const { ada, page, button, label, answer, call } = employer
  await page.setViewportSize({ width: 390, height: 844 })
  await ada.judge()
  await button('New token for deploy-bot').press('Enter')
  await label('Label of the token').fill('second')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.getByRole('option', { name: 'Every environment that is there now' }).press('Enter')
  await ada.judge()
  await button('Make the token').press('Enter')
  await button('I have it').press('Enter')
  await agent('deploy-bot').getByText('never sees one, in all of billing').waitFor()
  await ada.judge()
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
  await page.route('**/tokens/*/', (route) => route.fulfill({ status: 503, body: '' }))
  await button('Revoke default of deploy-bot').click()
  await page.getByText('This cannot be undone').waitFor()
  await ada.judge()
  await answer('Revoke')
  await page.getByRole('alertdialog').getByRole('alert').waitFor()
  expect(await call({ token })).toBe('domain_blocked')
  await page.unroute('**/tokens/*/')
  await answer('Revoke')
  await page.getByText('default is revoked.').waitFor()
  expect(await call({ token })).toBe('invalid_token')
  await page.setViewportSize({ width: 1280, height: 800 })
})

/** Loads the page again, without its cache. */
async function reread() {
  const { page, there } = employer
  const { workspace } = there
  await page.goto(`${employer.stage.origin}/console/w/${workspace.id}/agents`)
  await page.getByRole('heading', { name: 'Agents and tokens' }).waitFor()
}

test('an unknown workspace shows that nothing is at its address', async () => {
  const { ada, page, stage } = employer
  await page.goto(`${stage.origin}/console/w/x/agents`)
  await ada.sees('There is nothing at this address')
  await ada.judge()
  expect(await page.getByText('Owners and admins').count()).toBe(0)
})
