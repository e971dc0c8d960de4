// tier: all
/** How long a value is shown, and what hides it earlier. The test owns the page's clock. */
import { expect } from 'bun:test'
import { marked } from '../support/canary.ts'
import { requires } from '../support/requires.ts'
import { openStage, type Stage, type Visitor } from './browser.ts'

const { test, beforeAll, afterAll } = requires('chromium')

const VALUE = marked('sk_live_')
let stage: Stage
let ada: Visitor

beforeAll(async () => {
  stage = await openStage()
  ada = await stage.person('ada')
})
afterAll(async () => {
  await ada.close()
  await stage.close()
})

test('a value is hidden after 30 seconds, in a tab that slept, and when the window loses focus, and the page warns that a copy stays', async () => {
  const { page } = ada
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
  const value = page.getByText(VALUE)
  const isHidden = async () => {
    await value.waitFor({ state: 'detached' })
    await ada.judge()
  }
  const show = async () => {
    await press('Show KEY')
    await value.waitFor()
  }
  await page.getByRole('link', { name: 'Secrets', exact: true }).click()
  await press('Create project')
  await page.getByRole('textbox', { name: 'Project name', exact: true }).fill('web')
  await page.keyboard.press('Enter')
  await page.getByText('No secrets in this project yet.').waitFor()
  await press('Add secret')
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('KEY')
  await page.getByRole('textbox', { name: 'Value in development', exact: true }).fill(VALUE)
  const sheet = page.getByRole('dialog')
  await sheet.getByRole('button', { name: 'Add secret' }).click()
  await sheet.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: /^KEY in development/ }).click()
  // The list is read again after a change, and what is shown meanwhile is hidden with its row.
  const timeout = 3_000
  const isStill = async () => {
    await press('Show KEY')
    await value.waitFor({ timeout })
    await page.getByRole('button', { name: 'Hide KEY', exact: true }).click({ timeout })
    return true
  }
  while (!(await isStill().catch(() => false)));
  await page.clock.install()
  await show()
  await page.clock.runFor(28_000)
  expect(await value.count()).toBe(1)
  await page.clock.runFor(3_000)
  await isHidden()

  await show()
  await page.clock.setSystemTime(Date.now() + 3_600_000)
  await isHidden()

  await show()
  await page.evaluate(() => dispatchEvent(new Event('blur')))
  await isHidden()

  await press('Copy KEY')
  await page.getByText('It stays in the clipboard until you copy something else').waitFor()
  await page.evaluate(() =>
    Object.defineProperty(navigator.clipboard, 'writeText', { value: () => Promise.reject() }),
  )
  await press('Copy KEY')
  await page.getByText('Your browser blocked copying').waitFor()
  await ada.judge()
})
