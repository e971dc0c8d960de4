// tier: all
/** A person works with secrets by environment in a real browser. */
import { expect } from 'bun:test'
import type { Page } from 'playwright-core'
import { marked } from '../support/canary.ts'
import { requires } from '../support/requires.ts'
import { openStage, type Person, type Stage } from './browser.ts'

const { test, beforeAll, afterAll } = requires('chromium')

let stage: Stage
let ada: Person
let page: Page

beforeAll(async () => {
  stage = await openStage()
  ada = await stage.person('ada')
  page = ada.page
})
afterAll(async () => {
  await ada.close()
  await stage.close()
})

const button = (name: string) => page.getByRole('button', { name, exact: true })
const field = (name: string) => page.getByRole('textbox', { name, exact: true })
const cell = (words: RegExp) => page.getByRole('button', { name: words })
const sheet = () => page.getByRole('dialog')
const question = () => page.getByRole('alertdialog')
const said = (text: string) => page.locator('[data-toast]').getByText(text).first().waitFor()
const chip = (name: RegExp) =>
  page.getByRole('group', { name: 'Filters' }).getByRole('button', { name })
const grid = () => page.getByRole('grid', { name: 'Secrets by environment' })
const closed = () => sheet().waitFor({ state: 'detached' })

async function choose(name: string, option: string) {
  await page.getByRole('button', { name: new RegExp(`${name}$`) }).click()
  await page.getByRole('option', { name: option, exact: true }).click()
}

async function more(choice: string) {
  await button('More').click()
  await page.getByRole('menuitem', { name: choice }).click()
}

/** Drops a file on the page like a file manager. */
async function drop(text: string) {
  const dropped = await page.evaluateHandle((content) => {
    const transfer = new DataTransfer()
    transfer.items.add(new File([content], '.env', { type: 'text/plain' }))
    return transfer
  }, text)
  await page.locator('[data-drop]').dispatchEvent('dragover', { dataTransfer: dropped })
  await page.getByText('Drop to import').waitFor()
  await page.locator('[data-drop]').dispatchEvent('drop', { dataTransfer: dropped })
}

test('the screen creates a project and adds a secret with a value for each environment', async () => {
  await page.getByRole('link', { name: 'Secrets', exact: true }).click()
  await ada.sees('Secrets')
  await page.getByText('Create a project to add secrets.').waitFor()
  await ada.judge()
  await button('Create project').click()
  await field('Project name').fill('billing')
  await ada.judge()
  await page.keyboard.press('Enter')
  await page.getByText('No secrets in this project yet.').waitFor()
  await ada.judge()

  await page.keyboard.press('n')
  await field('Name').fill('STRIPE_KEY')
  await field('Value in development').fill(marked('sk_test_'))
  await field('Value in production').fill(marked('sk_live_'))
  await ada.judge({ reveals: true })
  await sheet().getByRole('button', { name: 'Add secret' }).click()
  await said('STRIPE_KEY added to development, production.')
  await closed()
  await cell(/^STRIPE_KEY in development: v1 · now/).waitFor()
  await cell(/^STRIPE_KEY in staging: Missing/).waitFor()
  await cell(/^STRIPE_KEY in production: v1/).waitFor()
  await ada.judge()
})

test('one value is used for all environments, and a bad or existing name is not sent', async () => {
  await button('Add secret').click()
  await field('Name').fill('9_LIVES')
  await sheet().getByText('Don’t start with a digit.').waitFor()
  await field('Name').fill('STRIPE_KEY')
  await sheet().getByText('STRIPE_KEY already exists.').waitFor()
  await field('Name').fill('AWS_REGION')
  await page.locator('label', { hasText: 'Use the same everywhere' }).click()
  await page.locator('label', { hasText: 'Not sensitive' }).click()
  await field('Value everywhere').fill('eu-central-1')
  await page.keyboard.press('Tab')
  await sheet().getByRole('button', { name: 'Add secret' }).click()
  await said('AWS_REGION added to development, staging, production.')
  await cell(/^AWS_REGION in development: v1/).waitFor()
  await cell(/^AWS_REGION in staging: same as dev/).waitFor()
  await cell(/^AWS_REGION in production: same as dev/).waitFor()
})

test('an environment that refuses a new secret keeps its value in the sheet', async () => {
  await button('Add secret').click()
  await field('Name').fill('TWICE')
  await field('Value in development').fill(marked('one_'))
  await field('Value in staging').fill(marked('two_'))
  const other = await stage.enter(ada, new URL(page.url()).pathname.replace('/console/', ''))
  await other.page.getByRole('button', { name: 'Add secret' }).click()
  await other.page.getByLabel('Name', { exact: true }).fill('TWICE')
  await other.page.getByLabel('Value in staging').fill(marked('elsewhere_'))
  const elsewhere = other.page.getByRole('dialog')
  await elsewhere.getByRole('button', { name: 'Add secret' }).click()
  await elsewhere.waitFor({ state: 'detached' })
  await other.close()
  await sheet().getByRole('button', { name: 'Add secret' }).click()
  await sheet().getByRole('alert').waitFor()
  expect(await field('Value in development').count()).toBe(0)
  expect(await field('Value in staging').inputValue()).toBe(marked('two_'))
  await ada.judge({ reveals: true })
  await page.keyboard.press('Escape')
  await button('Discard').click()
  await closed()
  await cell(/^TWICE in development: v1/).waitFor()
})

test('chips filter cells by state, with counts, and the address keeps the filter', async () => {
  expect(await chip(/^Missing/).textContent()).toMatch(/Missing\s*2/)
  await chip(/^Missing/).click()
  await page.waitForURL(/show=missing/)
  expect(await grid().getByRole('rowheader').allInnerTexts()).toEqual(['STRIPE_KEY', 'TWICE'])
  await ada.judge()
  await page.reload()
  await cell(/^STRIPE_KEY in staging: Missing/).waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('nothing like it')
  await page.getByText('No secrets match.').waitFor()
  await ada.judge()
  await button('Show all secrets').click()
  await cell(/^AWS_REGION in development/).waitFor()
})

test('a pasted .env file shows what it changes, and only the chosen secrets are imported', async () => {
  await button('Import .env').click()
  await field('Lines such as NAME=value').fill('A=`x`\nnot a line')
  await page.getByText('Line 2: this is not NAME=value').waitFor()
  await ada.judge()
  const text = [
    `DATABASE_URL='${marked('postgres_')}'`,
    'LOG_LEVEL=debug',
    `STRIPE_KEY='${marked('other_')}'`,
    'AWS_REGION=eu-central-1',
  ].join('\n')
  await choose('Environment', 'production')
  await field('Lines such as NAME=value').fill(text)
  const changes = page.getByRole('grid', { name: 'Changes' })
  await changes.getByText('New · not sensitive').waitFor()
  const rows = await changes.getByRole('row').allInnerTexts()
  expect(rows.slice(1).map((row) => row.trim().replace(/\s*\n\s*/g, ' '))).toEqual([
    'DATABASE_URL New',
    'LOG_LEVEL New · not sensitive',
    'STRIPE_KEY New value',
  ])
  await page.getByText('1 secret unchanged.').waitFor()
  await ada.judge()
  await changes.locator('label').last().click()
  await button('Import 2 secrets').click()
  await said('production: 2 added, 0 changed.')
  await cell(/^DATABASE_URL in production: v1/).waitFor()
  await cell(/^STRIPE_KEY in production: v1/).waitFor()
})

test('a file dropped anywhere on the screen is imported with one click, and other bytes are refused', async () => {
  await drop('SMTP_HOST=mail.example.com\n')
  await button('Import 1 secret').click()
  await said('production: 1 added, 0 changed.')
  await cell(/^SMTP_HOST in production/).waitFor()
  await button('Import .env').click()
  const choosing = page.waitForEvent('filechooser')
  await button('Choose a file').click()
  const buffer = Buffer.from([0x41, 0x3d, 0xff])
  await (await choosing).setFiles({ name: '.env', mimeType: 'text/plain', buffer })
  await page.getByText('This file isn’t UTF-8 text.').waitFor()
  await page.keyboard.press('Escape')
  await closed()
})

test('selected secrets are copied to another environment, deleted, undone and restored', async () => {
  const tick = page.locator('label', {
    has: page.getByRole('checkbox', { name: 'Select DATABASE_URL' }),
  })
  const before = await cell(/^DATABASE_URL in production/).boundingBox()
  await tick.click()
  const bar = page.getByRole('region', { name: 'Selected secrets' })
  await bar.getByText('1 selected').waitFor()
  expect(await cell(/^DATABASE_URL in production/).boundingBox()).toEqual(before)
  await ada.judge()
  await bar.getByRole('button', { name: 'Copy to…' }).click()
  await choose('To', 'staging')
  await ada.judge()
  await button('Copy 1 secret').click()
  await said('staging: 1 added, 0 changed.')
  await closed()
  await cell(/^DATABASE_URL in staging: v1/).waitFor()
  await cell(/^DATABASE_URL in production: same as staging/).waitFor()

  await tick.click()
  await bar.getByRole('button', { name: 'Delete…' }).click()
  await question().getByText('Agents using DATABASE_URL will fail right away.').waitFor()
  await ada.judge()
  await question()
    .getByRole('button', { name: /^Delete secret/ })
    .click()
  await cell(/^DATABASE_URL in production: Missing/).waitFor()
  await page
    .locator('[data-toast]', { hasText: '1 secret deleted from production.' })
    .getByRole('button', { name: /^Undo/ })
    .click()
  await said('1 secret restored.')
  await cell(/^DATABASE_URL in production: same as staging/).waitFor()
  await tick.click()
  await bar.getByRole('button', { name: 'Delete…' }).click()
  await question()
    .getByRole('button', { name: /^Delete secret/ })
    .click()
  await cell(/^DATABASE_URL in production: Missing/).waitFor()
  await more('Deleted secrets')
  await button('Restore DATABASE_URL').click()
  await cell(/^DATABASE_URL in production: same as staging/).waitFor()
  await page.getByText('Nothing was deleted in the last 7 days.').waitFor()
  await ada.judge()
  await page.keyboard.press('Escape')
  await closed()
})

test('the undo of an import restores the changed secret and deletes the new one, and shows the counts', async () => {
  await drop('SMTP_PORT=25\nAWS_REGION=us-east-1\n')
  await button('Import 2 secrets').click()
  await said('production: 1 added, 1 changed.')
  await closed()
  await cell(/^AWS_REGION in production: v2/).waitFor()
  await page
    .locator('[data-toast]', { hasText: 'production: 1 added, 1 changed.' })
    .getByRole('button', { name: /^Undo/ })
    .click()
  await said('production: 1 deleted, 1 restored.')
  await cell(/^AWS_REGION in production: same as dev/).waitFor()
  await grid().getByRole('rowheader', { name: 'SMTP_PORT' }).waitFor({ state: 'detached' })
})

test('environments are compared by value without showing one', async () => {
  await button('Compare').click()
  await page.getByText('5 differences').waitFor()
  await sheet().getByText('Different value').waitFor()
  await sheet().getByText('Only in production').first().waitFor()
  await ada.judge()
  await page.keyboard.press('Escape')
  await closed()
})

test('a press on a cell opens the inspector beside the list, and moves nothing', async () => {
  await page.setViewportSize({ width: 1280, height: 800 })
  const target = cell(/^STRIPE_KEY in production/)
  const before = await target.boundingBox()
  await target.click()
  await page.getByRole('heading', { name: 'STRIPE_KEY', level: 2 }).waitFor()
  await page.waitForURL(/key=STRIPE_KEY/)
  expect(await target.boundingBox()).toEqual(before)
  const scroller = grid()
  expect(await scroller.evaluate((each) => each.scrollWidth - each.clientWidth)).toBe(0)
  await ada.picture('secrets')
  await page.keyboard.press('Escape')
  await page.getByRole('heading', { name: 'STRIPE_KEY', level: 2 }).waitFor({ state: 'detached' })
  expect(await page.evaluate(() => document.activeElement?.getAttribute('data-cell'))).toBe(
    'production STRIPE_KEY',
  )
})

test('the screen fits a phone, where a row opens one environment', async () => {
  await page.setViewportSize({ width: 390, height: 844 })
  await ada.judge()
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
  const first = await grid().getByRole('row').nth(1).boundingBox()
  expect(first?.y).toBeLessThanOrEqual(220)
  await page.locator('label', { hasText: 'Staging' }).click()
  await page.getByText('Same as development').waitFor()
  await grid().getByText('AWS_REGION').click()
  await page.getByRole('heading', { name: 'AWS_REGION', level: 2 }).waitFor()
  await ada.judge()
  await page.keyboard.press('Escape')
  await page.keyboard.press('ControlOrMeta+k')
  await page.getByRole('dialog', { name: 'Search' }).getByRole('searchbox').waitFor()
  await page.keyboard.type('New env')
  await page.getByRole('menuitem', { name: 'New environment' }).click()
  await field('Environment name').fill('preview')
  await ada.judge()
  await page.keyboard.press('Enter')
  await closed()
  await page.setViewportSize({ width: 1280, height: 800 })
  await cell(/^STRIPE_KEY in preview: Missing/).waitFor()
})
