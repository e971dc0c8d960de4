/** Agents, what they may reach, and their calls as they happen, in a real browser. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { registerWithToken } from '../../src/client/agents/issuing.ts'
import { upload } from '../../src/client/sealing.ts'
import { signUp } from '../../src/client/vault.ts'
import { listSessions, revokeSession } from '../../src/features/accounts/contract.ts'
import { createProject } from '../../src/features/projects/contract.ts'
import { marked } from '../support/canary.ts'
import { logIn, openStage, PASSWORD, type Stage, type Visitor } from './browser.ts'
import { elsewhere } from './elsewhere.ts'

const EMAIL = 'ada@example.com'
const HOST = 'api.upstream.example'

let stage: Stage
let ada: Visitor
let page: Page
let there: Awaited<ReturnType<typeof elsewhere>>
let token = ''
let projectId = ''

beforeAll(async () => {
  stage = await openStage({ SERVICE_RESOLVER_URL: 'https://resolver.example.com' })
  await signUp(stage.app.controlPlane, EMAIL, PASSWORD)
  there = await elsewhere(stage.app.controlPlane, EMAIL)
  const { api, workspace } = there
  const body = { name: 'billing', workspace_id: workspace.id }
  projectId = (await api.call(createProject, { body })).id
  const place = { api, workspace, projectId, environment: 'production' }
  const policy = { allowed_methods: ['GET' as const] }
  const entry = { key: 'STRIPE_KEY', value: marked('sk_live_'), policy, expectedVersion: 0 }
  await upload(place, [entry], true)
  ada = await stage.visitor(`w/${workspace.id}/agents`)
  page = ada.page
  await logIn(page, EMAIL)
  page.setDefaultTimeout(20_000)
})
afterAll(async () => {
  await ada.close()
  await stage.close()
})

const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true })
const label = (name: string) => page.getByLabel(name, { exact: true })
const area = (name: string) =>
  page.getByRole('navigation').getByRole('link', { name, exact: true }).click()

async function choose(of: string, option: string) {
  await page.getByRole('button', { name: new RegExp(`${of}$`) }).click()
  await page.getByRole('option', { name: option, exact: true }).click()
}

async function call(method: string, host = HOST, bearer = token) {
  const headers = { authorization: 'Bearer SVC_SECRET_STRIPE_KEY' }
  const body = { target_url: `https://${host}/v1/charges`, method, headers }
  const answer = await fetch(`${stage.app.resolver}/v1/resolve`, {
    method: 'POST',
    headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return String(Reflect.get(Object(await answer.json()), 'error_code'))
}

test('a token is made for an agent, shown when asked, and set up without standing in any text', async () => {
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
  await page.getByText('export SERVICE_RESOLVER_URL=https://resolver.example.com').waitFor()
  await page
    .getByText('token issue deploy-bot -p billing -e production --label claude-code --save')
    .waitFor()
  await button('Show the token').click()
  token = await page.locator('.reveal-value').innerText()
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
  await page.getByText(`signed by ${EMAIL}`).waitFor()
  await ada.judge()
  await ada.picture('agents')
  expect(await page.content()).not.toContain(token)
})

test('a refused call shows as it happens, and what it lacks is allowed by one signed link', async () => {
  await area('Live requests')
  await ada.sees('Live requests')
  await page.getByText('Live', { exact: true }).waitFor()
  expect(await call('GET')).toBe('domain_blocked')
  await page.getByText(`${HOST} is not on the allowlist of the workspace.`).waitFor()
  await ada.judge()
  await button(/^Allow this/).click()
  await page.getByText(`${HOST} comes onto the allowlist`).waitFor()
  const { seq } = await there.chains.continued(there.workspace)
  await page.getByText(`You sign it as link ${seq + 1} of the workspace's chain.`).waitFor()
  await ada.judge()
  await button('Sign and allow').click()
  await page.getByText('Allowed. The next call goes through.').waitFor()
  const chain = await there.chains.continued(there.workspace)
  expect([...chain.allowlist]).toEqual([HOST])
  expect(chain.seq).toBe(seq + 1)
  expect(await call('GET')).not.toBe('domain_blocked')
})

test('a policy that refused gains exactly the one method, and the value stays', async () => {
  expect(await call('POST')).toBe('policy_blocked')
  await page.getByText('The policy of STRIPE_KEY does not permit the method POST.').waitFor()
  await button(/^Allow this: POST/).click()
  await page.getByText('Methods: GET + POST').waitFor()
  await ada.judge()
  await ada.picture('live')
  await button('Sign and allow').click()
  await page.getByText('Allowed. The next call goes through.').nth(1).waitFor()
  expect(await call('POST')).not.toBe('policy_blocked')
})

test('a token without the key of its environment gets it, sealed to it and signed', async () => {
  const { api, workspace } = there
  const terms = { environment: 'production', order: {}, places: [] }
  const made = await registerWithToken({ api, workspace }, { name: 'bare', projectId }, terms)
  expect(await call('GET', HOST, made.text)).toBe('key_not_provisioned')
  const row = page.locator('li.entry').filter({ hasText: 'bare' })
  await row.getByRole('button', { name: 'Allow this' }).click()
  await row.getByText('The token default of bare gets the key of billing/production.').waitFor()
  await ada.judge()
  await row.getByRole('button', { name: 'Sign and allow' }).click()
  await row.getByText('Allowed. The next call goes through.').waitFor()
  expect(await call('GET', HOST, made.text)).toBe('upstream_unreachable')
})

test('held still while somebody reads, and filtered by the address', async () => {
  await button('Pause').click()
  await call('GET', 'other.example')
  await page.getByText(/^\d new calls?$/).waitFor()
  expect(await page.getByText('other.example is not on the allowlist').count()).toBe(0)
  await button('Go on').click()
  await page.getByText('other.example is not on the allowlist').waitFor()
  await label('Host, path or secret').fill('other.example')
  await page.getByText(`${HOST} is not on the allowlist`).waitFor({ state: 'detached' })
  expect(page.url()).toContain('text=other.example')
})

test('a token of a CI job says what reading means, and goes into the environment of one command', async () => {
  await area('Agents and tokens')
  await button('New token').click()
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
  const workloads = page.getByRole('region', { name: 'Tokens of billing' })
  await workloads.getByText('may use secrets in calls, and read them').waitFor()
  await workloads.getByRole('button', { name: 'Revoke' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke' }).click()
  await workloads.getByText('1 that ended').waitFor()
})

test('another token of an agent for all environments, on a phone, by keys alone', async () => {
  await page.setViewportSize({ width: 390, height: 800 })
  await button('New token for deploy-bot').press('Enter')
  await label('Label of the token').fill('second')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.getByRole('option', { name: 'Every environment that is there now' }).press('Enter')
  await ada.judge()
  await button('Make the token').press('Enter')
  await button('I have it').press('Enter')
  await page.getByText('may use secrets in calls, and never sees one, in all of billing').waitFor()
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
  await page.setViewportSize({ width: 1280, height: 800 })
})

test('a token is revoked, refused from then on, and that it cannot be undone is said', async () => {
  const bot = page.getByRole('region', { name: 'deploy-bot' })
  const first = bot.locator('li.entry').filter({ hasText: 'default' })
  await first.getByRole('button', { name: 'Revoke' }).click()
  await page.getByText('This cannot be undone').waitFor()
  await ada.judge()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke' }).click()
  await page.getByText('default is revoked.').waitFor()
  expect(await call('GET')).toBe('invalid_token')
})

test('a stream that is cut goes on by itself, and a session that ended elsewhere asks to log in', async () => {
  await page.route('**/live/', (route) => route.fulfill({ status: 503, body: '' }))
  await area('Live requests')
  await page.getByText('Not connected. It is tried again by itself').waitFor()
  await ada.judge()
  await page.unroute('**/live/')
  await page.getByText('Live', { exact: true }).waitFor({ timeout: 20_000 })
  await area('Allowlist')
  const { api } = there
  const sessions = await api.list(listSessions, {})
  for (const { id, current } of sessions)
    if (!current) await api.call(revokeSession, { params: { session_id: id } })
  await area('Live requests')
  const ended = page.getByText('The session has ended.')
  await ended
    .or(page.getByRole('heading', { name: 'Log in' }))
    .first()
    .waitFor()
})
