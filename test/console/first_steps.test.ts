// tier: all
/** The first run of a workspace in a real browser: by keyboard, with refusals, half done, and dismissed. */
import { expect } from 'bun:test'
import { allowHosts } from '../../src/client/actions/allowlist.ts'
import { uploadSecrets } from '../../src/client/actions/set_secrets.ts'
import { createProject } from '../../src/features/projects/contract.ts'
import { marked } from '../support/canary.ts'
import { requires } from '../support/requires.ts'
import type { Stage, Visitor } from './browser.ts'
import { elsewhere } from './elsewhere.ts'
import { HOST, openReachableStage } from './reachable.ts'

const { test, beforeAll, afterAll } = requires('chromium', 'curl')

const TITLE = 'Make your first call'

let opened: Awaited<ReturnType<typeof openReachableStage>>
let stage: Stage

beforeAll(async () => {
  opened = await openReachableStage()
  stage = opened.stage
})
afterAll(() => opened.close())

/** In both color schemes, wide and on a phone. */
async function judgeEverywhere({ page, judge }: Visitor) {
  // A tooltip opens where the layout puts an icon under the pointer.
  await page.mouse.move(0, 0)
  for (const width of [390, 1280]) {
    await page.setViewportSize({ width, height: 800 })
    await page.emulateMedia({ colorScheme: 'dark' })
    await judge()
    await page.emulateMedia({ colorScheme: 'light' })
    await judge({ only: 'colors' })
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width)
  }
}

test('a newcomer makes the first call with the keyboard, and sees what the agent never saw', async () => {
  const value = marked('ghp_')
  const { upstream, runShownCall } = opened
  const grace = await stage.person('grace')
  const { page } = grace
  const label = (name: string) => page.getByLabel(name, { exact: true })
  await page.goto(`${stage.origin}/console/w/${grace.workspaceId}/first-steps`)
  await grace.sees(TITLE)
  await label('API key').waitFor()
  expect(await label('API key').evaluate((input) => input === document.activeElement)).toBe(true)
  await page.getByRole('button', { name: 'Add secret and create token' }).click()
  await page.getByText('API key: this field is required.').waitFor()
  expect(await page.getByText('this field is required.').count()).toBe(3)
  await judgeEverywhere(grace)
  await page.keyboard.type(value)
  await page.getByText('GitHub key. Its name and host are filled in.').waitFor()
  expect(await label('Name').inputValue()).toBe('GITHUB_TOKEN')
  expect(await label('Host').inputValue()).toBe('api.github.com')
  await label('Host').fill('not a host')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').waitFor()
  // The key stays in its field, so that it is not pasted again.
  await grace.judge({ reveals: true })
  await label('Host').fill(`https://${HOST}:${upstream.port}/user`)
  await page.getByText(`Allows ${HOST}:${upstream.port}`).waitFor()
  await label('Host').press('Enter')
  await page.getByText('Waiting for the call…').waitFor()
  for (const [choice, text] of [
    ['Cursor', '.cursor/mcp.json'],
    ['SDK', 'await fetch('],
    ['Claude Code', 'claude mcp add'],
    ['curl', 'curl --config -'],
  ] as const) {
    await page.getByRole('radio', { name: choice }).check({ force: true })
    await page.locator('pre', { hasText: text }).waitFor()
  }
  await judgeEverywhere(grace)

  await page.getByRole('button', { name: 'Show token' }).click()
  const token = await page.locator('[data-secret-value]').innerText()
  await page.getByRole('button', { name: 'Hide token' }).click()
  expect(await page.locator('pre').allInnerTexts()).not.toContain(token)
  expect(await runShownCall(page, `${token}x`)).toContain('invalid_token')
  await label('URL to call').fill('https://elsewhere.upstream.example/')
  expect(await runShownCall(page, token)).toContain('domain_blocked')
  await page.getByRole('status').getByText('elsewhere.upstream.example').first().waitFor()
  await label('URL to call').fill(`https://${HOST}:${upstream.port}/user`)
  expect(await runShownCall(page, token)).toContain('"status_code":200')
  const answer = page.getByRole('region', { name: 'First call' })
  for (const column of ['Your agent sent', 'The API received', 'Your agent got back'])
    await answer.getByRole('heading', { name: column }).waitFor()
  await answer.getByText('SVC_SECRET_GITHUB_TOKEN').first().waitFor()
  await judgeEverywhere(grace)
  await answer.scrollIntoViewIfNeeded()
  await grace.picture('first-steps')
  expect(upstream.received.at(-1)?.header('authorization')).toBe(`Bearer ${value}`)

  await page.reload()
  await page.getByText(`GITHUB_TOKEN · ${HOST}:${upstream.port}`).waitFor()
  await page.getByRole('button', { name: 'Create token', exact: true }).click()
  await page.getByRole('button', { name: 'Show token' }).waitFor()
  await grace.close()
})

test('a secret and a host that are there already leave only the choice of an agent', async () => {
  const lin = await stage.person('lin')
  const { page } = lin
  const { api, workspace } = await elsewhere(stage.app.controlPlane, lin.email)
  const body = { name: 'billing', workspace_id: workspace.id }
  const { id: projectId } = await api.call(createProject, { body })
  const place = { api, workspace, projectId, environment: 'production' }
  await uploadSecrets(place, [{ key: 'STRIPE_KEY', value: marked('sk_'), policy: undefined }], true)
  await page.goto(`${stage.origin}/console/w/${workspace.id}/first-steps`)
  await page.getByLabel('Host', { exact: true }).waitFor()
  expect(await page.getByLabel('API key').count()).toBe(0)
  await allowHosts({ api, workspace }, ['api.stripe.com'])
  await page.reload()
  await page.getByText('STRIPE_KEY · api.stripe.com').waitFor()
  await lin.judge()
  await page.getByRole('button', { name: 'Create token', exact: true }).press('Enter')
  await page.getByText('https://api.stripe.com/v1/balance').first().waitFor()
  await lin.close()
})

test('the overview offers the first call until it is dismissed in this browser', async () => {
  const eve = await stage.person('eve')
  const { page } = eve
  const overview = `${stage.origin}/console/w/${eve.workspaceId}/overview`
  const offer = page.getByRole('link', { name: TITLE })
  await page.goto(overview)
  await offer.click()
  await eve.sees(TITLE)
  await page.getByRole('button', { name: 'Skip' }).click()
  await eve.sees('Overview')
  await page.getByText('Signed history').first().waitFor()
  expect(await offer.count()).toBe(0)
  await page.reload()
  await eve.sees('Overview')
  expect(await offer.count()).toBe(0)
  await eve.close()
})
