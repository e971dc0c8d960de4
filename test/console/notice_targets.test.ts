// tier: all
/** A workspace's notice targets in a real browser. */
import { expect } from 'bun:test'
import { requires } from '../support/requires.ts'
import { openStage, type Person, type Stage } from './browser.ts'

const { test, beforeAll, afterAll } = requires('chromium')

let stage: Stage
let ada: Person

beforeAll(async () => {
  stage = await openStage()
  ada = await stage.person('ada')
})
afterAll(async () => {
  await ada.close()
  await stage.close()
})

test('an owner adds a webhook, whose key is shown once and whose URL never, tests it and removes it', async () => {
  const { page } = ada
  const button = (name: string) => page.getByRole('button', { name, exact: true })
  await ada.sees('Workspaces')
  await button('Notices of Personal').click()
  await page.getByText('No targets yet.').waitFor()
  await ada.judge()
  await page.getByRole('button', { name: /Type$/ }).click()
  await page.getByRole('option', { name: 'Webhook' }).click()
  await page.getByLabel('URL').fill('http://hooks.example.com/')
  await button('Add target').click()
  await page.locator('[data-field-error]').waitFor()
  await page.getByLabel('URL').fill('https://hooks.example.com/unguessable')
  await page.getByText('An agent proposes a host or a secret').click()
  await button('Add target').click()
  await page.getByText('It is shown only once.').waitFor()
  await page.getByText('Webhook at hooks.example.com', { exact: true }).waitFor()
  await ada.judge()
  await button('Send a test to Webhook at hooks.example.com').click()
  await page.getByText('A test notice is queued.').first().waitFor()
  await page.reload()
  await button('Notices of Personal').click()
  const list = page.getByRole('list', { name: 'Notice targets' })
  await list.getByText('An agent asks for an approval').waitFor()
  expect(await list.getByText('An agent proposes a host or a secret').count()).toBe(0)
  // The server knows the URL, and never shows it again.
  expect(await page.content()).not.toContain('unguessable')
  expect(await page.getByText('It is shown only once.').count()).toBe(0)
  await list.getByRole('button', { name: 'Remove' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).click()
  await page.getByText('No targets yet.').waitFor()
})
