// tier: all
/** The palette in a real browser: things of the workspace, actions and recent places, with 2,000 secrets. Times are reported, not asserted. */
import { expect } from 'bun:test'
import { registerWithToken } from '../../src/client/actions/issue_token.ts'
import { uploadSecrets } from '../../src/client/actions/set_secrets.ts'
import { createProject } from '../../src/features/projects/contract.ts'
import { marked } from '../support/canary.ts'
import { requires } from '../support/requires.ts'
import { openStage, type Person, type Stage } from './browser.ts'
import { elsewhere } from './elsewhere.ts'
import { interactionsOf, observe } from './interactions.ts'
import { openArea } from './workspace_screens.ts'

const { test, beforeAll, afterAll } = requires('chromium')

const COUNT = 2_000
let stage: Stage
let ada: Person

beforeAll(async () => {
  stage = await openStage()
  ada = await stage.person('ada')
  const { api, workspace } = await elsewhere(stage.app.controlPlane, ada.email)
  const body = { name: 'payments', workspace_id: workspace.id }
  const { id: projectId } = await api.call(createProject, { body })
  const place = { api, workspace, projectId, environment: 'production' }
  const value = marked('v_')
  const names = ['STRIPE_KEY', ...Array.from({ length: COUNT - 1 }, (_, at) => `KEY_${at}`)]
  const secrets = names.map((key) => ({ key, value, policy: null, expectedVersion: 0 }))
  await uploadSecrets(place, secrets, true)
  const terms = { environment: 'production', order: {}, places: [] }
  await registerWithToken({ api, workspace }, { name: 'deploy-bot', projectId }, terms)
})
afterAll(async () => {
  await ada.close()
  await stage.close()
})

test('the palette finds a secret among 2,000 by parts of its name, and opens it by its address', async () => {
  const { page } = ada
  await page.goto(`${stage.origin}/console/w/${ada.workspaceId}/members`)
  await page.getByRole('grid').waitFor()
  await page.evaluate(observe)
  await page.keyboard.press('Control+K')
  const dialog = page.getByRole('dialog', { name: 'Search' })
  await dialog.getByRole('menuitem', { name: 'Invite member' }).waitFor()
  await page.keyboard.type('key')
  await dialog.getByText(`8 of ${COUNT}`).waitFor()
  expect(await dialog.getByRole('menuitem').count()).toBeLessThan(40)
  await page.keyboard.type(' stri')
  await dialog.getByText(`8 of ${COUNT}`).waitFor({ state: 'detached' })
  const { count, median, worst } = await interactionsOf(page)
  expect(count).toBeGreaterThan(3)
  console.info(
    `${COUNT} secrets: ${count} interactions of the palette, median ${median} ms, worst ${worst} ms`,
  )
  await dialog.getByRole('menuitem', { name: 'STRIPE_KEY' }).first().waitFor()
  // React Aria moves its mark to the new first result half a second later.
  await page.waitForFunction(() => {
    const marked = document.querySelector('[aria-activedescendant]')
    return document.getElementById(marked?.getAttribute('aria-activedescendant') ?? '')
  })
  await ada.judge()
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/secrets\?.*key=STRIPE_KEY/)
  const { searchParams, pathname } = new URL(page.url())
  expect(pathname).toBe(`/console/w/${ada.workspaceId}/secrets`)
  expect(Object.fromEntries(searchParams)).toMatchObject({
    project: 'payments',
    environment: 'production',
  })
})

test('the palette finds agents, people, calls and actions, and names a text without results', async () => {
  const { page } = ada
  const dialog = page.getByRole('dialog', { name: 'Search' })
  const item = (name: string | RegExp) => dialog.getByRole('menuitem', { name })
  await page.keyboard.press('Control+K')
  await page.keyboard.type('deploy')
  await item(/deploy-bot.*payments/).waitFor()
  await item('Calls with deploy-bot').click()
  await page.waitForURL(/\/audit\?.*deploy-bot/)
  await page.keyboard.press('Control+K')
  await page.keyboard.type(ada.email.slice(0, 8))
  await item(ada.email).click()
  await page.waitForURL(new RegExp(`/members\\?member=${ada.userId}`))
  await page.getByRole('heading', { name: ada.email, level: 2 }).waitFor()
  await page.keyboard.press('Control+K')
  await page.keyboard.type('invite')
  await item('Invite member').click()
  await page.getByRole('dialog', { name: 'Invite a member' }).waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('Control+K')
  await page.keyboard.type('no such thing')
  await dialog.getByText('No results for “no such thing”').waitFor()
  await ada.judge()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
})

test('the palette shows recent places first and returns to them', async () => {
  const { page } = ada
  await openArea(page, 'Settings')
  await ada.sees('Settings')
  await page.keyboard.press('Control+K')
  const recent = page.getByRole('group', { name: 'Recent' })
  await recent.getByRole('menuitem', { name: 'STRIPE_KEY' }).waitFor()
  const names = await recent.getByRole('menuitem').allInnerTexts()
  expect(names[0]).toContain('Members')
  await recent.getByRole('menuitem', { name: 'STRIPE_KEY' }).click()
  await page.waitForURL(/\/secrets\?.*key=STRIPE_KEY/)
})
