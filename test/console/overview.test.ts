// tier: all
/** The overview of a workspace in a real browser: what waits, and how a new workspace starts. */
import { expect } from 'bun:test'
import { requires } from '../support/requires.ts'
import { openApprover } from './approver.ts'

const { test, beforeAll, afterAll } = requires('chromium')

let approver: Awaited<ReturnType<typeof openApprover>>

beforeAll(async () => {
  approver = await openApprover()
})
afterAll(() => approver.close())

test('each row of what waits leads to its decision, and the sidebar counts the same list', async () => {
  const { ada, page, call, stage, there } = approver
  await call()
  await call({ target_url: 'https://hooks.example/', headers: {} })
  await page.goto(`${stage.origin}/console/w/${there.workspace.id}/overview`)
  await ada.sees('Overview')
  await page.getByText('Signed history verified').waitFor()
  await page.getByRole('link', { name: 'Live requests 2 waiting for you' }).waitFor()
  await page.getByText('Approval · deploy-bot · STRIPE_KEY').waitFor()
  await ada.judge()
  await page.setViewportSize({ width: 390, height: 844 })
  await ada.judge()
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.getByRole('link', { name: 'Review: hooks.example' }).click()
  await page.getByRole('region', { name: 'Allow hooks.example?' }).waitFor()
})

test('a workspace without agents starts with the first call', async () => {
  const { stage } = approver
  const bob = await stage.person('bob')
  await bob.sees('Overview')
  await bob.page.getByText('Nothing waits for you.').waitFor()
  await bob.judge()
  await bob.page.getByRole('link', { name: 'Make your first call' }).click()
  await bob.page.waitForURL('**/first-steps')
  await bob.close()
})
