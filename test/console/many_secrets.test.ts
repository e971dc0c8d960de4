// tier: all
/** 2,000 secrets: the page has only visible rows. The time from a key press to the next paint is reported, not asserted. */
import { expect } from 'bun:test'
import { marked } from '../support/canary.ts'
import { requires } from '../support/requires.ts'
import { openStage, type Stage, type Visitor } from './browser.ts'
import { interactionsOf, observe } from './interactions.ts'

const { test, beforeAll, afterAll } = requires('chromium')

const COUNT = 2_000
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

const nameOf = (index: number) => `KEY_${String(index).padStart(4, '0')}`

test('a file of 2,000 secrets is stored, found, filtered and scrolled while the page has few rows', async () => {
  const { page } = ada
  await page.getByRole('link', { name: 'Personal' }).click()
  await page.getByLabel('Name of the project').fill('large')
  await page.keyboard.press('Enter')
  const value = marked('v_')
  const lines = Array.from({ length: COUNT }, (_, index) => `${nameOf(index)}='${value}${index}'`)
  await page.getByRole('button', { name: 'Paste a .env file' }).click()
  // Typing 75 kB into the field takes the browser a minute.
  const choosing = page.waitForEvent('filechooser')
  await page.getByRole('button', { name: 'Choose a file' }).click()
  const buffer = Buffer.from(lines.join('\n'))
  await (await choosing).setFiles({ name: '.env', mimeType: 'text/plain', buffer })
  await page.getByRole('button', { name: 'See what would change' }).click()
  await page.getByRole('button', { name: `Store ${COUNT}` }).click()
  await page.getByText(`${COUNT} secrets`).waitFor()
  await page.evaluate(observe)

  const table = page.getByRole('table', { name: 'Secrets by environment' })
  expect(await table.getAttribute('aria-rowcount')).toBe(String(COUNT + 1))
  expect(await table.locator('tbody tr').count()).toBeLessThan(100)
  const find = page.getByRole('textbox', { name: 'Find by name' })
  await find.pressSequentially('KEY_19')
  await page.getByText(`100 of ${COUNT} secrets`).waitFor()
  await find.clear()
  await page.getByText(`${COUNT} secrets`, { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Select all shown' }).click()
  await page.getByText(`${COUNT} selected`).waitFor()
  await page.getByRole('button', { name: 'Clear' }).click()
  await table.getByRole('button', { name: 'Name' }).click()
  await table.getByRole('button', { name: 'Name' }).click()
  await page.getByRole('button', { name: new RegExp(`^${nameOf(COUNT - 1)} in`) }).click()
  await page.locator('section.pane').waitFor()
  await ada.judge()
  const last = page.getByRole('button', { name: new RegExp(`^${nameOf(COUNT - 1)} in`) })
  await last.press('F2')
  await page.getByRole('textbox', { name: `New value of ${nameOf(COUNT - 1)}` }).press('x')
  await page.keyboard.press('Escape')
  await last.waitFor()
  await page.getByRole('region', { name: 'Secrets by environment' }).press('End')
  await table.getByText(nameOf(0), { exact: true }).waitFor()
  expect(await table.locator('tbody tr').count()).toBeLessThan(100)
  const { count, median, worst } = await interactionsOf(page)
  expect(count).toBeGreaterThan(5)
  console.info(
    `${COUNT} secrets: ${count} interactions, median ${median} ms, worst ${worst} ms to the next paint`,
  )
})
