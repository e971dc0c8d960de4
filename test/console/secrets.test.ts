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
const label = (name: string) => page.getByRole('textbox', { name, exact: true })
const cell = (words: RegExp) => page.getByRole('button', { name: words })
const pane = () => page.locator('section.pane')
const dialog = () => page.locator('[data-dialog]')
const said = (text: string) => page.locator('[data-toast]').getByText(text).first().waitFor()

/** Of a select in the pane or beside the matrix, by its label. */
async function choose(name: string, option: string, within: 'pane' | 'page' = 'pane') {
  const place = within === 'pane' ? pane() : page
  await place.getByRole('button', { name: new RegExp(`${name}$`) }).click()
  await page.getByRole('option', { name: option, exact: true }).click()
}

test('the screen creates a project, stores a secret, reveals it, and stores another value', async () => {
  await page.getByRole('link', { name: 'Personal' }).click()
  await ada.sees('Secrets')
  await page.getByText('This workspace has no project yet').waitFor()
  await label('Name of the project').fill('billing')
  await page.keyboard.press('Enter')
  await page.getByText('Nothing is stored here yet').waitFor()
  await ada.judge()

  const [first, second] = [marked('sk_test_'), marked('sk_live_')]
  await button('Add a secret').click()
  await label('Name').fill('STRIPE_KEY')
  await label('Value').fill(first)
  await button('Save').click()
  await said('STRIPE_KEY is stored in development.')
  await cell(/^STRIPE_KEY in development: A v1 · today/).waitFor()
  await cell(/^STRIPE_KEY is missing in production/).click()
  await pane().getByRole('heading', { name: 'STRIPE_KEY in production' }).waitFor()
  await ada.judge()
  await label('Value').fill(second)
  await button('Save').click()
  await said('STRIPE_KEY is stored in production.')
  await cell(/^STRIPE_KEY in production: B v1/).waitFor()
  await button('Show STRIPE_KEY').click()
  await page.getByText(second).waitFor()
  await ada.judge({ reveals: true })
  await button('Hide STRIPE_KEY').click()
  await label('New value').fill(first)
  await button('Save').click()
  await cell(/^STRIPE_KEY in production: A v2/).waitFor()
  await ada.judge()
})

test('a secret is rolled back to an earlier version', async () => {
  await page.getByRole('tab', { name: 'Versions' }).click()
  await button('Show STRIPE_KEY, Version 1').waitFor()
  await ada.judge()
  await button('Roll back').click()
  await page.getByText('What is in use now stays among the versions').waitFor()
  await ada.judge()
  await dialog().getByRole('button', { name: 'Roll back' }).click()
  await cell(/^STRIPE_KEY in production: B v3/).waitFor()
})

test('a pasted .env file lists what it would change, and only the chosen secrets are stored', async () => {
  await button('Paste a .env file').click()
  await label('Lines as NAME=value').fill('A=`x`\nnot a line')
  await button('See what would change').click()
  await page.getByText('Line 2: this is not NAME=value').waitFor()
  const database = marked('postgres_')
  const text = `DATABASE_URL='${database}'\nLOG_LEVEL=debug\nSTRIPE_KEY='${marked('other_')}'\n`
  await label('Lines as NAME=value').fill(text)
  await button('See what would change').click()
  const changes = page.getByRole('table', { name: 'What would change' })
  await changes.getByText('new, a setting').waitFor()
  expect(await changes.locator('tbody tr').allTextContents()).toEqual([
    'DATABASE_URLnew',
    'LOG_LEVELnew, a setting',
    'STRIPE_KEYother value',
  ])
  await ada.judge({ reveals: true })
  await changes.getByText('STRIPE_KEY').click()
  await button('Store 2').click()
  await said('2 created, 0 updated.')
  await cell(/^DATABASE_URL in production: A v1/).waitFor()
  await cell(/^STRIPE_KEY in production: B v3/).waitFor()
  await ada.judge()
})

test('a dropped file is read like a pasted one, and text that is not UTF-8 is refused', async () => {
  await button('Paste a .env file').click()
  const choosing = page.waitForEvent('filechooser')
  await button('Choose a file').click()
  const chooser = await choosing
  const buffer = Buffer.from([0x41, 0x3d, 0xff])
  await chooser.setFiles({ name: '.env', mimeType: 'text/plain', buffer })
  await page.getByText('This file is not UTF-8 text.').waitFor()
  const dropped = await page.evaluateHandle(() => {
    const transfer = new DataTransfer()
    transfer.items.add(new File(['SMTP_HOST=mail.example.com\n'], '.env', { type: 'text/plain' }))
    return transfer
  })
  await page.locator('.drop').dispatchEvent('drop', { dataTransfer: dropped })
  await button('See what would change').click()
  await page.getByText('new, a setting').waitFor()
  await page.keyboard.press('Escape')
  await pane().waitFor({ state: 'detached' })
})

test('secrets are copied to another environment, compared by value, deleted and restored', async () => {
  await page.getByText('DATABASE_URL', { exact: true }).click()
  await page.getByText('1 selected').waitFor()
  await choose('In environment', 'production', 'page')
  await button('Copy to …').click()
  await choose('To environment', 'staging')
  await button('See what would change').click()
  await button('Store 1').click()
  await said('staging: 1 created, 0 updated.')
  await cell(/^DATABASE_URL in staging: A v1/).waitFor()
  await ada.judge()

  await button('More').click()
  await page.getByRole('menuitem', { name: 'Compare' }).click()
  await pane().getByText('other value').waitFor()
  await pane().getByText('only in production').first().waitFor()
  await ada.judge()
  await ada.picture('secrets')

  await button('Delete').click()
  await page.getByText('Lost: DATABASE_URL, with all earlier versions.').waitFor()
  await ada.judge()
  await dialog().getByRole('button', { name: 'Delete' }).click()
  await cell(/^DATABASE_URL is missing in production/).waitFor()
  await button('More').click()
  await page.getByRole('menuitem', { name: 'Deleted' }).click()
  await button('Restore DATABASE_URL').click()
  await cell(/^DATABASE_URL in production: A v1/).waitFor()
  await ada.judge()
})

test('the second of two concurrent writes is refused, and nothing is replaced', async () => {
  await cell(/^STRIPE_KEY in production/).click()
  const other = await stage.enter(ada, new URL(page.url()).pathname.replace('/console/', ''))
  await other.page.getByRole('button', { name: /^STRIPE_KEY in production/ }).click()
  await other.page.getByLabel('New value').fill(marked('elsewhere_'))
  await other.page.getByRole('button', { name: 'Save' }).click()
  await other.page.getByText('STRIPE_KEY is stored in production.').waitFor()
  await other.close()
  await label('New value').fill(marked('too_late_'))
  await button('Save').click()
  await page.getByText('Somebody else changed this meanwhile.').waitFor()
  await cell(/^STRIPE_KEY in production: B v4/).waitFor()
  await ada.judge({ reveals: true })
  await label('New value').clear()
})

test('the screen fits a phone, and the keyboard reaches its commands', async () => {
  await page.setViewportSize({ width: 390, height: 844 })
  await ada.judge()
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
  await page.keyboard.press('Escape')
  await pane().waitFor({ state: 'detached' })
  await page.keyboard.press('ControlOrMeta+k')
  await page.keyboard.type('New env')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await label('Name of the environment').fill('preview')
  await page.keyboard.press('Enter')
  await cell(/^STRIPE_KEY is missing in preview/).waitFor()
  await page.setViewportSize({ width: 1280, height: 800 })
})

test('choosing another name or environment hides the value of the previous secret', async () => {
  await button('Add a secret').click()
  await label('Name').fill('STRIPE_KEY')
  await choose('Environment', 'development')
  await button('Show STRIPE_KEY').click()
  await button('Hide STRIPE_KEY').waitFor()
  const setting = page.getByRole('checkbox', { name: /^A setting/ })
  await page.locator('.pane label', { hasText: 'A setting' }).click()
  expect(await setting.isChecked()).toBe(true)
  await choose('Environment', 'production')
  await button('Show STRIPE_KEY').waitFor()
  expect(await button('Hide STRIPE_KEY').count()).toBe(0)
  expect(await setting.isChecked()).toBe(false)
  await label('Name').fill('STRIPE_KEY_2')
  expect(await setting.isChecked()).toBe(false)
  await page.keyboard.press('Escape')
})
