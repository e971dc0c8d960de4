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

test('an owner adds a webhook, sees its key once and its URL never again, tests it and removes it', async () => {
  const { page } = ada
  const button = (name: string) => page.getByRole('button', { name, exact: true })
  await page.goto(`${stage.origin}/console/w/${ada.workspaceId}/settings`)
  await ada.sees('Settings')
  await page.getByText('No targets yet.').waitFor()
  await button('Add target').click()
  const sheet = page.getByRole('dialog', { name: 'Add a notice target' })
  await ada.judge()
  await sheet.getByRole('button', { name: /Type$/ }).click()
  await page.getByRole('option', { name: 'Webhook' }).click()
  await sheet.getByLabel('URL').fill('http://hooks.example.com/')
  await sheet.getByRole('button', { name: 'Add target' }).click()
  await sheet.locator('[data-field-error]').waitFor()
  await sheet.getByLabel('URL').fill('https://hooks.example.com/unguessable')
  await sheet.getByText('An agent proposes a host or a secret').click()
  await sheet.getByRole('button', { name: 'Add target' }).click()
  await sheet.getByText('You won’t be able to see it again.').waitFor()
  await ada.judge()
  await sheet.getByRole('button', { name: 'Done' }).click()
  const list = page.getByRole('list', { name: 'Notice targets' })
  await list.getByText('Webhook at hooks.example.com', { exact: true }).waitFor()
  await ada.judge()
  await button('Actions for Webhook at hooks.example.com').click()
  await page.getByRole('menuitem', { name: 'Send test' }).click()
  await page.getByText('Sent a test notice.').first().waitFor()
  await page.reload()
  await list.getByText('An agent asks for approval').waitFor()
  expect(await list.getByText('An agent proposes a host or a secret').count()).toBe(0)
  // The server stores the URL, and never returns it.
  expect(await page.content()).not.toContain('unguessable')
  expect(await page.getByText('be able to see it again').count()).toBe(0)
  await button('Actions for Webhook at hooks.example.com').click()
  await page.getByRole('menuitem', { name: 'Remove…' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).click()
  await page.getByText('No targets yet.').waitFor()
})

test('a notice target without events is not added, and the form names what is missing', async () => {
  const { page } = ada
  await page.getByRole('button', { name: 'Add target', exact: true }).click()
  const sheet = page.getByRole('dialog', { name: 'Add a notice target' })
  await sheet.getByLabel('URL').fill('https://hooks.example.com/other')
  for (const box of await sheet.getByRole('checkbox').all()) await box.uncheck({ force: true })
  await sheet.getByRole('button', { name: 'Add target' }).click()
  await sheet.getByText('Choose at least one.').waitFor()
  await page.keyboard.press('Escape')
  await page.getByText('No targets yet.').waitFor()
})
