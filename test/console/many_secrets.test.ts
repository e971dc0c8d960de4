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
  await page.getByRole('link', { name: 'Secrets', exact: true }).click()
  await page.getByRole('button', { name: 'Create project' }).click()
  await page.getByLabel('Project name').fill('large')
  await page.keyboard.press('Enter')
  const value = marked('v_')
  const lines = Array.from({ length: COUNT }, (_, index) => `${nameOf(index)}='${value}${index}'`)
  await page.getByRole('button', { name: 'Import .env' }).first().click()
  // Typing 75 kB into the field takes the browser a minute.
  const choosing = page.waitForEvent('filechooser')
  await page.getByRole('button', { name: 'Choose a file' }).click()
  const buffer = Buffer.from(lines.join('\n'))
  await (await choosing).setFiles({ name: '.env', mimeType: 'text/plain', buffer })
  await page.getByRole('button', { name: `Import ${COUNT} secrets` }).click()
  const find = page.getByRole('searchbox', { name: 'Filter by name' })
  await find.waitFor()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(await find.getAttribute('placeholder')).toBe(`Filter ${COUNT} secrets`)
  await page.evaluate(observe)

  const grid = page.getByRole('grid', { name: 'Secrets by environment' })
  const rows = grid.getByRole('row')
  expect(await grid.getAttribute('aria-rowcount')).toBe(String(COUNT + 1))
  expect(await rows.count()).toBeLessThan(100)
  await find.pressSequentially('KEY_19')
  await page.waitForFunction(() => document.querySelector('[aria-rowcount="101"]') !== null)
  await find.clear()
  await page.waitForFunction(() => document.querySelector('[aria-rowcount="2001"]') !== null)
  const all = grid.locator('label', { has: page.getByRole('checkbox', { name: 'Select all' }) })
  await all.click()
  await page.getByText(`${COUNT} selected`).waitFor()
  await page.getByRole('button', { name: 'Clear selection' }).click()
  await grid.getByRole('button', { name: 'Name' }).click()
  await grid.getByRole('button', { name: 'Name' }).click()
  const last = page.getByRole('button', { name: new RegExp(`^${nameOf(COUNT - 1)} in dev`) })
  await last.click()
  await page.getByRole('region', { name: nameOf(COUNT - 1) }).waitFor()
  await ada.judge()
  await last.press('F2')
  await page.getByRole('textbox', { name: `New value of ${nameOf(COUNT - 1)}` }).press('x')
  await page.keyboard.press('Escape')
  await last.waitFor()
  await last.press('End')
  await grid.getByText(nameOf(0), { exact: true }).waitFor()
  expect(await rows.count()).toBeLessThan(100)
  const { count, median, worst } = await interactionsOf(page)
  expect(count).toBeGreaterThan(5)
  console.info(
    `${COUNT} secrets: ${count} interactions, median ${median} ms, worst ${worst} ms to the next paint`,
  )
})
